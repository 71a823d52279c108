def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*_, **__):
        raise RuntimeError(f"torchvision's {name} is not installed and was called")

    return absent
