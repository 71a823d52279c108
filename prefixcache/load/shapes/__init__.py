"""When requests are sent: closed loops by free slots, open loops by the clock (docs/load.md).

``parse_load`` reads the text that users write, ``arrival_offsets`` makes an open loop's schedule of it.
"""
