"""Verbs by how their forms are built. Regular ones are stored as bases; `english` derives the other forms."""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import pairs, words

# Actions a person can do to almost any solid object, so that any of them fits before "the old lantern".
HANDLING = words(
    """
    admire arrange borrow carry clean cover decorate deliver describe discover display donate dust examine exchange fix
    gather inspect label lift measure move obtain pack paint photograph place polish present purchase
    remember remove repair replace request restore return save select sketch sort store touch trade transport
    unpack use wash weigh wipe
    """
)

# What people do for its own sake; the gerunds follow "enjoys".
PASTIMES = words(
    """
    bake camp climb cook cycle dance dive draw exercise explore farm fish garden hike jog juggle knit paint
    read ride row run sail sew sing skate sketch ski surf swim travel volunteer walk weave whistle write
    """
)

REGULAR = words(
    """
    accept accompany account achieve act adapt add address adjust admire advance advise agree aim allow amuse announce
    answer appear applaud apply appoint appreciate approach approve argue arrange arrive ask assemble assign assist
    attach attend attract avoid award bake balance bathe belong blend bless blink blossom boil borrow bounce breathe
    brighten browse brush bundle calculate call camp cancel care carry carve cause celebrate challenge change charge
    chase check cheer chew claim clean clear climb close collect color combine comfort compare compete complete compose
    concentrate connect consider consist construct contact contain continue contribute cook cooperate copy correct count
    cover crawl create cross cultivate cure cycle damp dance dare decide declare decorate delay delight deliver demand
    demonstrate depart depend describe deserve design desire detect determine develop direct discover discuss display
    distribute divide donate double doubt dream dress dust earn edit educate employ empty enable encourage end enjoy
    enter entertain escape establish estimate evaluate examine exchange excite excuse exercise exist expand expect
    explain explore express extend fasten fetch figure file fill finish fish fix float fold follow form frame function
    furnish gain garden gather gaze glance glow grate greet guard guess guide hand handle happen harvest head heat help
    hesitate hike hire honor hope house hunt hurry identify imagine impress improve include increase indicate influence
    inform inquire inspect inspire install instruct intend interview introduce invent invest invite involve iron join
    joke judge juggle jump kick knock label land last laugh launch learn level lift like link list listen live load
    locate lock look love lower mail maintain manage march mark marry match matter measure melt memorize mend mention
    milk mix model move multiply name navigate need note notice number obey observe obtain occupy offer open operate
    order organize own pack paint park participate pass pause perform persuade phone photograph pick place plant play
    please plow point polish pour practice praise predict prepare present preserve press pretend prevent print proceed
    process produce promise pronounce propose protect prove provide publish pull pump purchase push question race raise
    rank reach react realize receive recognize recommend record recover recycle reduce reflect refresh register relate
    relax rely remain remember remind remove renew rent repair repeat replace reply represent request rescue research
    reserve resolve respect respond rest restore result return reveal reverse review reward rinse roast roll row rush
    sail salute sample satisfy save scatter schedule score scrape search seem select separate serve settle shape share
    sharpen shelter shout sign signal sketch ski smile smooth sneeze solve sort sound spell spill sprinkle squeeze stack
    stamp start stay steer store stretch stroll study succeed suggest supply support suppose surprise surround survive
    switch talk taste thank tickle tidy tire touch tour trace track trade train transform translate transport travel
    treat trust try tumble turn twist type unite unpack update use value vary visit volunteer vote wait walk
    wander warm warn wash watch water wave weigh welcome whisper whistle wink wipe wish wonder work worry yawn
    """
)

# Regular verbs whose last consonant doubles before -ed and -ing.
DOUBLING = words(
    """
    chat clap nod stir scrub wrap unwrap plan stop shop drop tap trim chop jog grab hug knit permit admit prefer refer
    occur ship slip skip snap spot step strap tug trot hop pin pat dip fit hum grin mop pot sip transfer commit submit
    equip zip plot
    """
)

# base:past; the gerund and third person follow the regular rules (doubling where GERUND_DOUBLES says so).
IRREGULAR = pairs(
    """
    become:became begin:began bend:bent bind:bound blow:blew break:broke bring:brought build:built buy:bought
    catch:caught choose:chose come:came cost:cost cut:cut deal:dealt draw:drew drink:drank drive:drove eat:ate
    fall:fell feed:fed feel:felt find:found fly:flew forget:forgot freeze:froze get:got give:gave grow:grew
    hang:hung have:had hear:heard hide:hid hold:held keep:kept know:knew lay:laid lead:led leave:left lend:lent let:let
    light:lit lose:lost make:made mean:meant meet:met pay:paid put:put read:read ride:rode ring:rang
    rise:rose run:ran say:said see:saw seek:sought sell:sold send:sent set:set sew:sewed shine:shone show:showed
    sing:sang sit:sat sleep:slept slide:slid speak:spoke spend:spent spin:spun spread:spread stand:stood sweep:swept
    swim:swam swing:swung take:took teach:taught tell:told think:thought throw:threw understand:understood
    wake:woke wear:wore weave:wove win:won write:wrote dive:dived bow:bowed
    """
)

GERUND_DOUBLES = frozenset(["begin", "cut", "forget", "get", "let", "put", "run", "set", "sit", "spin", "swim", "win"])
