"""Nouns by what they name, singular; plurals come from `english.plural`. Mass nouns are kept apart: they have none."""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import pairs, words

GOODS = words(
    """
    pencil marker crayon notebook eraser ruler sticker stamp postcard envelope folder binder bookmark poster
    calendar magazine novel comic puzzle marble card coin medal badge button ribbon bead bracelet necklace earring
    ring brooch locket candle lantern torch lamp bulb battery camera radio speaker keyboard mouse tablet charger
    cable helmet racket basketball football baseball skateboard kite balloon whistle drum flute guitar violin trumpet
    piano doll robot puppet statue figurine mask crown wand magnet compass globe map atlas telescope microscope
    lens mirror comb brush sponge towel napkin blanket pillow cushion curtain carpet rug mat vase pot pan kettle
    plate bowl cup mug saucer spoon fork knife tray jug pitcher flask thermos teapot toaster blender mixer grater peeler
    umbrella wallet purse backpack suitcase watch clock alarm keychain padlock fan heater
    hammock tent bicycle scooter tricycle wagon sled ski canoe paddle oar anchor buoy hook rope chain
    brick tile plank beam pebble shell fossil crystal feather acorn pinecone trophy ornament
    garland wreath card letter parcel gift souvenir token ticket coupon brochure leaflet pamphlet textbook
    workbook journal diary album scrapbook painting sketch portrait photograph frame easel paintbrush palette chisel
    sculpture tapestry quilt basket thimble spool zipper needle
    """
)

FOODS = words(
    """
    apple apricot avocado banana berry biscuit blueberry burger burrito cabbage cake carrot cherry chestnut
    coconut cookie cracker cranberry croissant cucumber cupcake custard date donut dumpling egg eggplant
    fig grape grapefruit guava hazelnut kiwi lemon lime lollipop mango meatball melon muffin
    mushroom nectarine noodle olive omelet onion orange pancake papaya parsnip pastry peach peanut pear pepper pickle
    pie pineapple pistachio pizza plum pomegranate potato pretzel pudding pumpkin quince radish raisin raspberry
    sandwich sausage scone shallot strawberry tangerine toffee tomato turnip waffle walnut watermelon zucchini
    bagel brownie candy caramel truffle gumdrop
    """
)

PLANTS = words(
    """
    rose tulip daisy lily orchid daffodil sunflower marigold violet iris peony poppy petunia begonia dahlia carnation
    hyacinth geranium azalea camellia magnolia hibiscus primrose snowdrop bluebell buttercup crocus zinnia fern cactus
    sapling seedling bamboo ivy herb flower blossom bush shrub vine
    """
)

TREES = words(
    """
    oak maple birch willow cedar pine spruce elm beech poplar cypress fir chestnut hawthorn juniper laurel palm
    """
)

FARM_ANIMALS = words(
    """
    horse pony donkey cow goat lamb pig duck goose chicken turkey llama alpaca mule calf foal hen rabbit pheasant
    partridge quail pigeon ostrich bison
    """
)

OTHER_ANIMALS = words(
    """
    cat dog puppy kitten hamster rooster dove sparrow robin parrot canary owl eagle falcon hawk heron stork swan crane
    penguin peacock seagull pelican flamingo woodpecker magpie raven crow swallow turtle tortoise lizard frog toad snail
    butterfly bee beetle dragonfly ladybug cricket grasshopper squirrel hedgehog beaver otter badger fox wolf bear panda
    koala kangaroo monkey gorilla lion tiger leopard cheetah elephant giraffe zebra camel hippo rhino buffalo antelope
    gazelle dolphin whale seal walrus shark octopus crab lobster jellyfish starfish
    """
)

ANIMALS = FARM_ANIMALS + OTHER_ANIMALS

CLOTHES = words(
    """
    shirt sweater jacket coat scarf hat cap beanie belt apron vest hoodie cardigan robe cloak shawl
    uniform raincoat
    """
)

# What comes in pairs or is not worn every day.
OTHER_CLOTHES = words(
    """
    dress skirt blouse bonnet swimsuit costume glove mitten sock shoe boot sandal slipper sneaker
    """
)

TOOLS = words(
    """
    hammer wrench screwdriver drill saw axe shovel rake spade trowel ladder bucket broom mop wheelbarrow hose nail
    screw bolt washer hinge bracket clamp level anvil crowbar mallet sander lathe pulley lever gear spring valve pump
    engine motor wheel tire pedal saddle generator turbine funnel filter sieve scale thermometer barometer stopwatch
    calculator computer printer scanner monitor laptop telephone projector
    """
)

FURNITURE = words(
    """
    chair table desk bench stool sofa armchair couch bed cradle crib wardrobe dresser cabinet cupboard shelf bookcase
    drawer stove oven freezer blind chandelier bookshelf nightstand
    """
)

PARTS_OF_HOUSES = words(
    """
    counter fireplace sink bathtub faucet door window gate fence railing staircase banister chimney ceiling wall floor
    roof porch balcony terrace patio shutter
    """
)

VEHICLES = words(
    """
    car bus train tram truck van taxi boat ship ferry yacht sailboat canal barge tractor trailer motorcycle airplane
    helicopter glider rocket carriage locomotive minibus caravan kayak raft subway
    """
)

CONTAINERS = words("box crate carton basket bag jar bin tin barrel bucket case packet pouch sack chest tub")

PAPERS = words(
    """
    book story report letter poem guide essay diary journal article manual script chapter pamphlet dictionary
    magazine newspaper notebook textbook novel brochure catalog handbook cookbook songbook review summary
    biography encyclopedia thesis document lecture fable folktale memoir booklet almanac workbook sketchbook atlas
    """
)

JOBS = words(
    """
    teacher student baker farmer gardener carpenter plumber painter engineer doctor nurse dentist pharmacist
    librarian writer poet editor reporter journalist photographer musician singer dancer actor director composer
    conductor pianist violinist guitarist drummer pilot sailor captain driver mechanic electrician mason welder tailor
    weaver potter sculptor jeweler florist butcher grocer cashier clerk accountant banker lawyer judge
    mayor senator diplomat translator historian scientist chemist physicist biologist geologist astronomer
    mathematician programmer designer architect builder surveyor miner firefighter lifeguard ranger guard
    coach athlete runner swimmer cyclist skier skater climber hiker gymnast referee trainer tutor professor
    principal janitor waiter chef cook barber cobbler shepherd beekeeper fisher hunter trader merchant
    manager secretary assistant volunteer inventor explorer traveler tourist guest neighbor collector
    inspector detective postmaster watchmaker blacksmith glassblower bookkeeper lecturer researcher veterinarian
    """
)

PEOPLE = words(
    """
    friend cousin brother sister uncle aunt nephew niece classmate teammate roommate colleague partner parent
    grandmother grandfather mother father daughter son grandson twin child
    player worker helper visitor customer passenger member beginner expert leader listener reader
    """
)

# Also squares, streets and quarters: what a town has.
BUILDINGS = words(
    """
    library museum market bakery school college university hospital theater cinema stadium station airport harbor bridge
    park garden farm barn stable windmill lighthouse castle palace tower cathedral chapel monastery temple fountain
    square plaza avenue street lane alley tunnel dam village town suburb district neighborhood factory warehouse
    workshop studio gallery office bank hotel hostel inn cafe restaurant diner cafeteria kitchen bookstore pharmacy
    laundry garage playground gymnasium arena pool zoo aquarium greenhouse nursery observatory laboratory courthouse
    embassy monument pavilion courtyard cottage cabin mansion apartment dormitory campsite highway crossroads dock pier
    marina shipyard quarry mine mill brewery dairy
    """
)

LANDSCAPES = words(
    """
    river lake beach forest meadow mountain glacier volcano island peninsula bay cove cliff cave desert oasis jungle
    swamp marsh lagoon reef coast shore hill valley canyon waterfall stream pond canal reservoir trail path orchard
    vineyard
    """
)

TOPICS = words(
    """
    history music science travel poetry physics chemistry biology geography geology astronomy algebra geometry
    arithmetic calculus logic grammar spelling drama theater cinema dance opera ballet jazz fashion pottery weaving
    knitting sewing cooking baking gardening farming fishing sailing hiking climbing camping cycling swimming running
    skating skiing archery chess tennis golf soccer hockey volleyball cricket badminton gymnastics health medicine
    nutrition fitness business trade finance banking economics politics law philosophy ethics language literature
    folklore mythology architecture engineering robotics aviation wildlife weather climate energy nature space art craft
    design photography sculpture painting calligraphy origami
    """
)

STUFF = words(
    """
    water milk juice coffee tea honey sugar salt flour rice bread butter cheese cream yogurt oil vinegar soup pasta
    cereal oatmeal corn wheat barley oats hay straw wood paper cotton wool silk linen leather plastic rubber glass
    metal steel iron copper silver gold brass bronze marble granite sand gravel clay cement paint ink glue soap shampoo
    wax gasoline coal charcoal compost soil grass moss snow ice rain fog wind sunlight sunshine moonlight thunder
    lightning furniture luggage clothing jewelry equipment machinery homework housework knowledge wisdom patience
    courage kindness honesty friendship happiness curiosity creativity imagination confidence freedom justice peace
    progress advice information news traffic electricity software hardware money cash wealth chocolate cinnamon
    garlic ginger lettuce spinach broccoli celery parsley basil mint thyme vanilla mustard lemonade popcorn
    """
)

GENERAL = words(
    """
    answer question problem solution number digit sum total difference product fraction percent average
    amount price cost budget salary wage income profit discount bill dollar cent penny dime quarter minute hour
    day week month year decade century morning afternoon evening night weekend holiday season birthday
    moment second meter kilometer centimeter inch foot yard mile acre gram kilogram pound ounce ton liter gallon pint
    quart teaspoon tablespoon dozen pair group team class club family couple crowd audience committee
    company store shop firm agency project plan idea method rule lesson course exam test grade score
    point goal game match race contest prize award event party festival parade concert picnic wedding
    meeting journey trip voyage tour visit vacation adventure flight ride walk
    route direction distance speed height width length depth weight volume area angle circle triangle
    rectangle cube sphere cone cylinder line curve edge corner side center middle top bottom surface layer
    piece part portion share slice half third row column stack pile bundle batch bunch set series list
    chart graph diagram picture image color shade pattern shape size sample example model copy version
    type kind sort category topic subject theme title page paragraph sentence phrase word syllable vowel
    consonant noun verb adjective adverb symbol sign signal message note reminder notice poster announcement
    sound voice song melody rhythm chord tune noise echo silence dream memory thought feeling opinion belief
    reason cause effect result outcome chance choice decision option change improvement habit skill talent
    hobby interest task chore duty job career profession effort success mistake challenge promise
    wish secret surprise joke riddle legend myth character hero princess knight queen king village
    nation country continent planet star moon galaxy comet meteor satellite cloud storm breeze
    wave tide current rainbow sunrise sunset shadow flame spark stone rock leaf branch root trunk seed fruit vegetable
    meal breakfast lunch dinner supper snack dessert recipe ingredient flavor taste smell drink beverage
    hand finger thumb arm elbow shoulder neck head face eye ear nose mouth tooth knee ankle
    lecture classroom hallway elevator entrance exit basement attic bedroom bathroom lobby lawn driveway sidewalk
    member guideline standard feature detail element aspect factor principle theory experiment discovery invention
    machine device instrument tool system network program website screen button switch
    """
)

IRREGULAR_PLURALS = pairs(
    """
    child:children person:people tooth:teeth foot:feet mouse:mice goose:geese knife:knives shelf:shelves leaf:leaves
    loaf:loaves half:halves wolf:wolves calf:calves scarf:scarves potato:potatoes tomato:tomatoes mango:mangoes
    hero:heroes echo:echoes bookshelf:bookshelves cactus:cacti crossroads:crossroads series:series thesis:theses
    buffalo:buffaloes bison:bison jellyfish:jellyfish starfish:starfish oasis:oases quiz:quizzes volcano:volcanoes
    """
)
