"""What an error of a program that did run means: its traceback, the line in the project, known causes."""
