"""The complete search of Zhang, Shan and Cagan."""
