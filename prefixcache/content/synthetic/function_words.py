"""Small words that hold sentences together, and numbers in letters."""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import words

FUNCTION_WORDS = words(
    """
    the and but for nor yet this that these those one each every another any some all both few many much more most
    other such own same what which who whose whom when where why how while because although since until unless whether
    after before during with without within from into onto over under between among through toward against near beside
    behind beyond outside inside upon around across along past off down out she her hers him his they them their theirs
    you your yours our ours its itself herself himself themselves myself yourself ourselves someone somebody something
    everyone everybody everything anyone anybody anything nobody nothing none are was were been being has had having
    does did doing done can could will would shall should may might must not too than per via plus minus
    """
)

NUMBER_WORDS = words(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half twice
    first second third fourth fifth sixth seventh eighth ninth tenth double triple
    """
)
