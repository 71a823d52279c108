"""Reading answers: what each event of each interface means for the clock and for the counts."""
