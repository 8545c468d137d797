"""Who works off the portions of a round: this process, others, or those of a Ray cluster, all of them
`blackbox.trial_workers`."""

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from infimum.backend.worker_threads import thread_count
from infimum.blackbox.trial_workers import CLOCK_PERIOD, LocalWorkers, Workers
from infimum.errors import OptionError, TrialError
from infimum.evaluation.evaluator import Evaluator
from infimum.parallel import ray_cluster
from infimum.parallel.process_workers import Processes
from infimum.parallel.proofs.portion_prover import Answer, PortionProver
from infimum.problem.problem import Problem
from infimum.problem.settings import Machine, Method, Parallel
from infimum.search.checkpoint import State
from infimum.search.policy.search import EVALUATION, ROUNDS
from infimum.search.rounds import Portion, StepRounds, WorkersLost

_WAITING_PORTIONS = 2  # portions that wait beside those that are worked on, so that nobody waits for one
_MOST_TRIES = 4        # times that a portion may be lost with its worker
# seconds without a sign of life after which a worker is taken for frozen, and its portion goes to another
_SILENCE_SECONDS = 30.0


class WorkerPortionRunner:
    """Deals portions to workers, each to the first that is free; one that is lost with its worker is dealt again."""

    def __init__(self, workers: Workers):
        self.workers, self.redone = workers, 0
        self.answered = self.bytes = 0  # portions; what went to workers and came back

    @property
    def count(self) -> int:
        return self.workers.count

    def run_portions(self, count: int, portion: Callable[[int], Portion]) -> Iterator[tuple[int, State] | None]:
        """See `PortionRunner`. Answers to what an earlier round has dealt, which was given up, are not heard."""
        waiting, sent, lost = deque(range(count)), {}, Counter()
        while waiting or sent:
            while waiting and self.workers.outstanding < self.count + _WAITING_PORTIONS:
                message = pickle.dumps(portion(waiting[0]), protocol=pickle.HIGHEST_PROTOCOL)
                with self._until_lost():
                    sent[self.workers.submit(message)] = waiting.popleft()
                self.bytes += len(message)
            with self._until_lost():
                finished = self.workers.next_finished(CLOCK_PERIOD)
            number = None if finished is None else sent.pop(finished.ticket, None)
            if number is None:
                yield None
            elif isinstance(finished.outcome, Answer):
                yield number, self._left(finished.outcome)
            else:  # the worker was lost, and its outcome says how
                self.redone, lost[number] = self.redone + 1, lost[number] + 1
                if lost[number] >= _MOST_TRIES:
                    raise WorkersLost(f"the workers were lost {_MOST_TRIES} times with the same regions "
                                      f"({finished.outcome.text})")
                waiting.appendleft(number)

    @contextmanager
    def _until_lost(self) -> Iterator[None]:
        """Once a worker has answered, the end of all of them is a limit of the run, and no error in its settings."""
        try:
            yield
        except TrialError as error:
            if not self.answered:
                raise
            raise WorkersLost(f"the workers are lost: {error}") from error

    def _left(self, answer: Answer) -> State:
        if answer.error is not None:
            raise answer.error
        self.answered += 1
        self.bytes += sum(array.nbytes for array in answer.state.arrays.values())
        return answer.state


@contextmanager
def started_rounds(parallel: Parallel, problem: Problem, evaluator: Evaluator, method: Method, machine: Machine,
          memory_limit: float | None) -> Iterator[tuple[StepRounds, int]]:
    """Rounds in which these workers prove, started, and the batch; closed with the block.

    A cluster with GPUs works there, in larger batches, unless that is given or the device is the CPU; a worker for each."""
    with ExitStack() as stack:
        workers, device, gpus = parallel.workers, machine.device, 0
        if isinstance(workers, str):
            stack.enter_context(ray_cluster.joined(workers))
            gpus = 0 if device == "cpu" else ray_cluster.gpus()
            if device.startswith("cuda") and not gpus:
                raise OptionError(f"device={device!r} is for GPUs, and the Ray cluster has none: `ray status` shows what it has")
        batch = int(machine.batch or max(evaluator.batch, EVALUATION.worth_a_gpu if gpus else 0))
        theirs = Machine("cuda" if gpus and device != "auto" else device, machine.threads, batch)
        prover = PortionProver.of(problem, evaluator, method, theirs, memory_limit)
        yield StepRounds(WorkerPortionRunner(stack.enter_context(_started(prover, workers, gpus))), parallel.portions
                         or ROUNDS.portions), batch


def _started(prover: PortionProver, workers: int | str, gpus: int) -> Workers:
    """One worker is this process itself. Others share the processors, unless threads are given."""
    if isinstance(workers, str):
        from infimum.parallel.ray_workers import RayWorkers  # which needs Ray

        joined = "ray"  # where this process is now: the address may have been another name of that cluster
        return RayWorkers(_with_threads(prover, 1), joined, gpus=gpus, silence=_SILENCE_SECONDS)
    if workers == 1:
        return LocalWorkers(prover)
    return Processes(pickle.dumps(_with_threads(prover, max(1, thread_count() // workers))), workers, silence=_SILENCE_SECONDS)


def _with_threads(prover: PortionProver, threads: int) -> PortionProver:
    """The same with that number of threads, unless one is given."""
    return replace(prover, machine=replace(prover.machine, threads=prover.machine.threads or threads))
