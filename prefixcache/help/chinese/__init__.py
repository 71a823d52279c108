"""What the tool says, in Chinese: forms and sentences by their English text; help of commands and flags."""
