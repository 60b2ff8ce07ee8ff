extension CommonPasswords {
    /// The words of which people make passwords, in small letters and without the endings that they put after them.
    ///
    /// Names, love, teams, films, games, music, animals, food, months, places, makes of cars, oaths and the keyboard: what the
    /// published lists of stolen passwords are full of. The file is long because the list is.
    static let words: Set<String> = {
        let russian = pieces(of: russianList)
        return Set(pieces(of: list) + russian + russian.map { String($0.map { latinKeys[$0] ?? $0 }) })
    }()

    private static func pieces(of list: String) -> [String] {
        list.split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// The Latin letters on the keys of the Russian ones: with the wrong layout привет becomes ghbdtn.
    private static let latinKeys = Dictionary(
        uniqueKeysWithValues: zip("йцукенгшщзхъфывапролджэячсмитьбюё", "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"))

    private static let russianList = """
        александр александра алексей алена алина анастасия андрей анна антон арсений артем богдан валентина валерия
        василий вера вероника виктор виктория виталий владимир владислав галина георгий григорий даниил дарья денис
        дмитрий евгений евгения екатерина елена елизавета иван игорь илья ирина карина катерина катя кирилл константин
        кристина ксения лариса леонид любовь людмила максим маргарита марина мария михаил надежда наталья наташа никита
        николай оксана олег ольга павел петр полина роман руслан светлана сергей софия станислав степан татьяна тимур
        юлия юрий ярослав вячеслав анжела настя саша дима вова лена таня маша ваня солнце солнышко котенок кошка собака
        зайка зайчик ангел ангелина принцесса красотка малышка любимый любимая люблю ятебялюблю любимка привет приветик
        пароль пароль1 здравствуй спасибо счастье удача победа свобода россия москва спартак зенит динамо локомотив
        телефон компьютер интернет клавиатура вконтакте одноклассники мамочка мама папа мамапапа семья доченька сыночек
        дракон волчонок тигренок медведь черепаха шоколад конфетка вишенка клубника весна лето осень зима январь февраль
        март апрель август сентябрь октябрь ноябрь декабрь бабочка звезда звездочка небо солнечный космос самолет машина
        мотоцикл работа начальник директор бизнес деньги миллион хозяин король королева чемпион никогда навсегда
        невероятно непомню незнаю отвали иванов иванова петров сидоров кузнецов
        """

    private static let list = """
        1234abcd 1234qwer 123abc 123qwe 123qweasd 1a2b3c 1a2b3c4d 1q2w3e 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 2pac
        2pacshakur 420420 50cent 666 666666 747 777 777777 7777777 88888888 a1b2c3 a1b2c3d4 a1s2d3f4 aaa aaaa aaaaa
        aaaaaa abc abcabc abcd abcde abcdef abcdefg abcdefghi abcdefghij abigail abracadabra abraham abrakadabra absolut
        absolute abstract academic academy acapulco access accident accord accurate acdc ace aces acmilan acoustic
        activate acura adidas admin administrator adobe adrenalin adrenaline adrian adriana adrienne advanced advantage
        advent adventure aerobics aerosmith affinity africa african airborne airbus aircraft airforce airplane ajax
        alabama aladdin alaska albatross albert alberta alberto alchemy alejandra alejandro alex alexander alexandra
        alexandre alexandria alexis alfa alfaromeo alfonso alfred alfredo algebra alice alicia alien aliens alison allah
        allahuakbar alleycat alliance alligator allison allow allstar allstars almighty aloha alone alpha alphabet
        alphaomega although aluminum alvarez always alyssa amanda amateur amateurs amazing amazon amber ambition
        ambrosia amelia america americano amethyst amnesia amor amore amour ampersand amphibian amsterdam amy ana
        anaconda anakin anal anarchist anarchy anastasia ancestor anchorage ancient anderson andre andrea andreas andrei
        andrew android andromeda angel angela angeleyes angelica angelina angeline angelito angelo angels angus animal
        animals animated anita anna annabelle anne annette annie anniversary answer antares antelope anthony antoine
        anton antonia antonina antonio anything apache apartment apocalypse apollo apostrophe appetite apple applepie
        apples applesauce apprentice april aqualung aquarius arachnid aragorn arcangel archangel archer archery
        architect argentina ariel aries aristotle arizona arkansas armadillo armageddon armando armani armchair army
        arnold arsenal artemis arthur artillery artist arturo asd asdasd asdf asdfasdf asdfg asdfgh asdfghj asdfghjkl
        asdfjkl asdzxc ashley ass assass assassins asshole assholes asslick assman asterix asteroid astonvilla astronaut
        astronomy astros athena athens athletic athlon atlanta atlantic atlantis atomic attack attitude aubrey audi
        audia4 audir8 audition audrey august augustus auntie aurora austin australia austria auto automatic autumn
        avalanche avalon1 avatar avenger avengers aviation awesome azazel azerty azertyuiop azsxdc babe babies baby
        babyangel babybaby babyblue babyboy babycakes babyface babygirl babygurl babylon babylove babyphat bacardi
        backbone backdoor backpack backspace backup backward backyard bacon bacteria bad badass badboy badboys badger
        badgirl badlands bagger bailey balance baller ballerina ballet ballin balloon ballpark balls ballsack bambi
        banana bananas bandicoot bandit bangbang bangkok bangladesh bank banker banking barbados barbara barbarian
        barbecue barbie barbiegirl barca barcelona barefoot baritone barney barracuda barry bart bartender bartman
        baseball basement basketball bass basset bassist bassline bassman bassoon bastard bastards batgirl bathroom
        batman battery battlefield battleship bayern bayernmunich bbb bbbb beach beachboy beachbum bear bearbear bearcat
        bears beast beast666 beatbox beatle beatles beatrice beatrix beatriz beautiful beauty beaver beckham bedroom bee
        beefcake beer beerbeer beethoven beetle beijing belgium believe believer bella belle bellevue beloved benedict
        benfica bengals benjamin benny benson bentley benz beowulf berkeley berlin bermuda bernard bernardo berserker
        besiktas best bestbuy bestest bestfriend bestfriends beta beth bethany betrayal betty bettyboop beverley beverly
        beyonce bff bffs bible bicycle bieber bienvenido bienvenue bigass bigbear bigben bigbird bigblue bigbooty
        bigboss bigboy bigbrother bigbucks bigbutt bigcat bigcock bigdaddy bigdick bigdog bigfish bigfoot biggie
        biggiesmalls bigguy bighead bigjohn bigmac bigman bigmike bigmoney bigred bigshot bigsky bigtime bigtits
        bigtitties bigtree bike biker bikers bilbo billabong billiards billionaire billkaulitz billy billybob billyboy
        bingo biohazard biology bird birdie birdman birthday bismarck bismillah bitch bitchass bitches biteme bizzare
        bla blabla blablabla black blackbelt blackberry blackbird blackbox blackcat blackcoffee blackdog blackdragon
        blackhawk blackhawks blackheart blackhole blackice blackie blackjack blacklabel blackmagic blackman blackops
        blackout blackpool blackrose blacksabbath blackstar blackstone blacksun blackwater blackwolf blackwood blade
        bladerunner blades blah blahblah blank blaster blastoff bleach blessed blessing blink blink182 blizzard blonde
        blondie blood bloodlust bloody blossom blow blowfish blowjob blowme blue bluebell blueberry bluebird blueblue
        bluedog blueeyes bluefish bluegrass bluejays bluelight bluemoon bluenose blues bluesky bluestar bluff blur bmw
        bmw325 bmwbmw bmx boat bobafett bobby bobbydog bobcat bobdylan bobmarley boca bodyguard boeing boeing747
        bohemian bollocks bollywood bomber bond bond007 bondage bonehead boneyard bonjour bonjovi bonnie boobear boobies
        booboo boobs boogie book bookcase books bookworm boomer boomerang boomstick boots bored boring borussia bosch
        boss boston boulder bowling boxer boxers boxing boxster boy boyfriend boys bradford bradley braindead brainiac
        brainstorm brandon brandy brasil brasilia braves bravo brazil brazilian breakdown breakfast breakout breanna
        breeze brenda brendan brett brian brianna bridge bridget briefcase brighton brilliant british britney
        britneyspears brittany bro broadway broccoli broken broker bronco broncos bronson bronze brooke brooklyn brother
        brothers brown brownie browns bruce brucelee bruins brunette bruno brunswick brussels brutus bryan bubba bubble
        bubblegum bubbles buckaroo buckeye buckeyes buckshot buckskin buckwheat budapest buddha buddy buddyboy budlight
        budweiser buffalo buffett buffy bugatti bugs bugsbunny builder building bulgaria bull bulldog bulldogs bullet
        bulletproof bullfrog bullhead bullrider bulls bullshit bullwinkle bumblebee bumbling bungalow bunnie bunnies
        bunny burger burgundy burning burrito burton business businessman busted buster butt butter butterball buttercup
        butterfinger butterfly buttface buttfuck butthead butthole buttmunch button buttons butts buzzard byteme
        cabernet cabinet cable cactus cadence cadillac caesar caffeine caitlin cakes calendar california caligula
        callaway callofduty calvin camaro cambridge camel camelot camels cameltoe camera cameron camila camille campbell
        campfire camping camry canada canadian canadiens cancer cancun candy candyass candycane candyland candyman
        cannabis cannon canon cantona canucks capitals capricorn capslock captain caramel caramelo caravan cardinals
        caribbean carla carlos carmen carnival carol carolina caroline carolyn carpediem carpenter carrera carrie carrot
        carter cartman cartoon casanova cascade casey cash cashflow cashmoney casino casper cassandra cassidy cassie
        castaway castillo castle cat catalina catalyst catapult catcat catdog caterpillar catfish cathedral catherine
        catholic cathouse cats catwoman caution cavalier cccc cecilia celebrity celeste celestial celine cell cellphone
        cellular celtic celtics central centurion century ceramics cerberus cervantes cervelo cesar chairman challenge
        challenger chameleon champ champagne champion champs chandler chanel change changed changeme changes channel
        chantal chaos chapman chapters character charger chargers charisma charizard charlene charles charlie charlotte
        charlton charmed charming chatterbox cheater cheaters checkers checkmate cheerful cheerleader cheers cheese
        cheeseburger cheesecake cheesy cheetah cheetos chelsea chemical chemistry cherokee cherries cherry cheryl
        chesapeake chess chessman chester chesterfield chevelle chevrolet chevy chewbacca chewie chicago chicken
        chickens chickenwing chief chiefs chihuahua child childhood children chile china chinaman chinatown chinese
        chipmunk chipper chippy chips chivas chloe choco chocolate choochoo chopper chris christ christian christie
        christina christine christmas christopher christy chromium chronic chrono chrysler church churchill ciao
        cigarette cincinnati cinderella cinema cinnamon cisco citadel citizen citroen civic civilization civilwar claire
        clapton clara clarence clarinet class classic classroom claude claudia claudio claymore clayton cleaner cleavage
        clemson cleopatra cleveland clifford climber clinton clipper clitoris cloud cloudy clover clown clubs clueless
        cobra cocacola cock cocksucker coco coconut codename cody coffee coke coldbeer coldfire coldplay colin collector
        colleen college colombia colonel colonial colorado colts columbia columbus combat comeback comedian comeon
        comfort command commander commando commerce communication communist company compaq compass complete complex
        composer computer computers comrade comrades concept concert concord concorde concrete condom confidence
        confused connect connecticut connection connor conquest conrad console constance constant construct construction
        consult consultant contact contract contrasena contraseña control controller converse convoy cookbook cookie
        cookiemonster cookies cool coolbeans coolcat coolcool cooldude coolgirl coolguy coolhand coolio coolman coolness
        cooper copenhagen copper coral cordelia corey corinthians corleone cornelia cornell cornwall corolla corona
        corporate corrado corvette cosmic cosmo cosmonaut cosmos costello cottage cougar cougars counter counterstrike
        counting country countryboy courage courtney cousin coventry cow cowabunga cowboy cowboys cowgirl crab cracker
        crackerjack crackers craig cranberry cranky crawfish crawford crazy crazyboy crazygirl creampie creation
        creative creator creatures creed1 crescent cricket criminal crimson cristiano cristina critical crocodile
        cromwell crossbow crossfire crossroads cruise cruiser crunch crusader crystal crystals cstrike cuba cubbies cubs
        cucumber culinary cum cumcum cummins cumshot cunningham cunt cupcake cupcakes cure curious currency current
        curtis custom cutie cutiepie cutlass cuttlefish cyber cyberpunk cyborg cyclone cyclops cynthia czech dad daddy
        daddycool daddysgirl daffodil daffy dagger daisy daisydog dakota dalejr dallas dalmatian damnation damned dance
        dancer dancing dandelion danger dangerous daniel daniela danielito danielle danmark danny dannyboy danzig dark
        darkangel darkhorse darkknight darklord darkmoon darkness darkroom darkside darkstar darkwing darlene darling
        darth darthvader database daughter dauphin david davids davidson daybreak daydreamer daylight daytime daytona
        dddd dead deadhead deadline deadman deadpool deadwood dearborn death deathnote deathrow deathstar debbie debian
        deborah december deception decipher deepblue deepthroat deeznuts default defender defiance defiant delacruz
        delaware delicious delirium deliver deliverance dell delpiero delta demo democrat demolition demon demon666
        demonic demons denmark dennis dentist denver depeche depechemode depression desert design designer desktop
        desperado desperate destiny detective detroit deutsch deutschland developer development devil devildog deville
        devilman devils dfgh diablo diablo666 dialtone diamond diamondback diamonds diana dice dick dickhead dickson
        dickweed dictator diehard diesel different digimon digital1 dilbert dimension dinosaurs dior diplomat dipshit
        director dirtbike dirty dirtybitch dirtydog disaster disciple discovery disney1 distance disturbed division
        dixie1 doctor doctorwho dodge dodgers dog dogbone dogdog dogfood doggie doggy doggydog doggystyle doghouse
        dogpound dogs dollar dollars dollface dolphin dolphins dominator domingo dominic dominica dominick dominion
        dominique domino donald donaldduck donaldson donkey1 donkeykong donna donovan donttell doobie doodle doom doomed
        doomsday doorbell doraemon dorothy dortmund double doughboy doughnut douglas downhill download downtown dracula
        drafting dragon dragonball dragonballz dragonfire dragonfly dragons dragoon dragster drawing dreadlocks dream
        dreamcast dreamer dreamgirl dreaming dreamland dreams dreamteam drifter driftwood driver drogba11 dropbox
        drowssap drpepper drum drumline drummer drumming drums drunken dublin ducati duchess duck duckie duckman ducks
        ducky dude dudeman dudes duke dukenukem dumbass dumbledore dumbo dumpling duncan1 dunkin duracell durango
        dustbin dustin dutchman dwight dynamic dynamics dynamite dynamo dynasty eagle eagles earth earthlink earthquake
        east easter eastern eastside eastwood easy easyrider eatme eatmenow eatpussy ebay ebony echo eclectic eclipse
        economics economy ecstasy edinburgh eduardo education edward edwardcullen edwards eeyore egghead eggplant egypt
        einstein elaine eleanor electra electrical electro electronic electronics elefant element elements elephant
        elevator eleven elite elizabeth elliott elmo elvis elvispresley embassy embrace emerald emerson emily eminem
        emma emotional emperor empire employee emporium enchanted encounter endeavor endless endurance energizer energy
        enforcer engine engineer engineering england english enhanced enigma enjoy enjoyment ensemble enter enterprise
        entrance envelope environment epsilon equation equestrian equinox eric erica ericsson erika ernesto erotic
        erotica escalade escort eskimo espana espresso esquire essential esther estrella ete eternal eternity ethernet
        ethiopia etienne eugene europa europe eva evanescence everest evergreen everlasting everquest everton everyday
        everyone everything evidence evil evil666 evolution example excalibur excellent exchange exciting executive
        exercise exodus exorcist exotic exotica experience experiment expert exploit explore explorer explosion export
        express exterior external extra1 extreme eyeball f150 fabulous facebook facility failsafe fairlane fairy
        fairytale faith faithful fajardo falcon falcons fall falling fallout falloutboy familiar family familyguy
        fandango fantasia fantasma fantastic fantasy farfalla farmer farming fashion fastback fastball fastcar fatality
        fatass fatboy fatcat fatfat father fatman favorite favourite fcbarcelona fdsa fdsafdsa fearless feather february
        federal federico feedback felicity felipe felix fellowship female fenerbahce fenway ferguson fernand fernanda
        fernandez fernando ferrari ferret festival fetish feyenoord fghj fiat fiddle fidelio fidelity fielding fiesta
        fifteen fiftycent fighter fighting filipina filipino filthy finalfantasy finance finger finland finnegan fire
        fireball firebird fireblade firecracker firefire firefly firefox firehawk firehouse fireman fireplace firestar
        firestone firestorm firewall fireworks first fish fishbone fisher fisherman fishhead fishhook fishing fishtank
        fitness flamengo flames flamingo flash flashman flatron flawless fletch fletcher flintstone flipper floppy
        florence florian florida flounder flower flowerpower flowers floyd fluffy flute flyaway flyboy flyers flyfish
        flyhigh flying flyingv focused folklore fontaine foobar foofighters football footloose forbidden ford fordf150
        foreigner foreplay foreskin forest forever forget forgetit forgive forgiven forgot forgotten forklift formula
        forsaken fortnite fortress fortuna fortune fortytwo forward foster fountain fourteen fourtwenty fox foxhound
        foxtrot foxy foxylady fraction fragment francais france frances francesco francine francis francisco francois
        frank frankenstein frankfurt frankie franklin franky fred freddie freddy frederic fredfred fredrick freebie
        freebird freedom freefall freelance freemail freeman freepass freeport freestyle freeway freeze freezing freight
        freitag french frenchy frequency friday friend friendly friends friendship friendster frisbee frisco frodo frog
        froggie froggies froggy frogman frontier frosted frosty frozen fruehling fruitcake fuck fucker fuckers fuckface
        fuckfuck fuckhead fucking fuckinga fuckit fucklove fuckme fuckoff fuckshit fuckthat fuckthem fuckthis fucku
        fuckyall fuckyou fujifilm fulham fullback fullhouse fullmoon function funfun funny funstuff fusion futbol future
        fuzzball fuzzy gabriel gabriela gabrielle galatasaray galaxy galileo gallagher gallardo gallery gambit gambler
        game gameboy gamecocks gamecube gamemaster gameover gamer games gaming gamma gammaray gandalf ganesh ganesha
        gang gangbang gangsta gangster ganja garage garbage garden gardener gardenia garfield gargoyle garlic garrett
        garrison gary gasman gasoline gateway gator gators gauntlet gay gays geforce geheim gemini general genesis
        geneva genevieve genius gentle gentleman george georgetown georgia georgie gerald gerard german germany geronimo
        gerrard gertrude getalife getlost getmoney getrich getsome gettysburg ghana ghetto ghost ghostrider giants
        gibson giggles gilbert gillette gilligan ginger gingerbread giovanna giovanni giraffe girl girlfriend girlpower
        girls girly github gitlab givemesome gizmo glacier gladiator gladstone glamour glasgow glasses glitter global
        globalwar gloria glory gmail goalie goalkeeper god godblessme goddess godfather godfirst godgod godisgood
        godislove godlike godzilla gofish gogogo goku gold goldberg golden goldenboy goldeneagle goldeneye goldfinger
        goldfish goldie goldmine goldrush goldstar goldwing golf golfball golfer golfgti golfing goliath gollum gonzaga
        gonzales gonzalez good goodboy goodbye goodday goodgirl goodgood goodies goodlife goodluck goodman goodness
        goodnews goodtimes goodyear goofball goofy google gooner gordon gorgeous gorgonzola gorilla gossip gothic
        gotohell gouranga governor grace gracie graduate graffiti graham grandam granddad grandma grandmother grandpa
        grandprix granite granny grapefruit grapes grapevine graphics grasshopper grateful graveyard gravity great
        greatful greatone greece green green-day greenapple greenbay greenbean greenday greeneyes greenfield
        greenlantern greenman greentea greenwood greg123 gregory gremlin gretchen gretzky greyhound griffin griffith
        grinder gringo grizzly groovy groucho group gryphon gt500 guardian guatemala gucci guerrero guest guillaume
        guillermo guinness guitar guitarist guitarman guitarra gumball gumby gummybear gundam gunner gunners guns
        gunslinger gunsnroses gunther gustavo gutierrez guys guzman gymnast gymnastic gymnastics gypsy hacienda hacker
        hackers haha hahaha hahahaha hairball hairspray hairy halflife hallelujah halliwell hallmark hallo hallowed
        halloween halo hamburg hamburger hamilton hamlet hammerhead hammers hamster handball handsome handyman hanging
        hangover hannah hannahmontana hannibal hansolo hanuman happiness happy happybirthday happyday happydog happyface
        happyfeet happyhappy happyman happyone hardball hardbody hardcore hardrock hardware hardwood harlequin harley
        harleydavidson harmonic harmony harold harrington harris harrison harry harrypotter harrystyles harvard harvest
        harvester hate hateme hater666 hatfield hatred haunted havefun hawaii hawaiian hawk hawkeye hawkeyes hawks
        hawkwind hazelnut headache headbanger headshot healing health heart heartbreak heartless hearts heat heather
        heatwave heaven heavenly heavyduty heavymetal heckfyxbr hector hedgehog heidi heineken helen helena helicopter
        hell hellboy hellcat hellfire hello hellohello hellokitty hellothere helloworld hellraiser hellyeah helpdesk
        helpless helsinki hemingway henderson hendrix henrietta henry heracles herbert herbie herbst hercules heritage
        hermes hermione hermosa hernandez hero heroes herrera hewlett hewlettpackard heyhey hiawatha hibernia hibiscus
        hideaway highbury highheel highland highlander highlife highschool highway hillary hillbilly hillside himalaya
        hip-hop hiphop hiroshi hiroshima history hitman47 hiver hjkl hobbes hobbit hockey hogwarts hola holahola holiday
        holland hollister hollow hollywood holy holyshit holyspirit homeboy homebrew homeless homemade homepage homer
        homerj homerun homesick hometown homeward homework homie homies honda hondacivic honduras honesty honey honeybee
        honeybun honeydew honeymoon hongkong honolulu hood hookers hooligan hoosiers hooters hope hopeful hopeless
        hopkins hopscotch horizon hornet hornets horny horse horseman horsepower horses horseshoe hospital hossam
        hostage hotboy hotchick hotdog hotdogs hotel hotgirl hotlanta hotmail hotmama hotpink hotrod hotsauce hotsex
        hotshot hotspur hotstuff hottest hottie houdini hounddog housewife houston hovercraft howard howdy howell hubert
        huckleberry hudson hugs hulk humanity hummer hummingbird hungary hunter hunters hunting hurricane husband
        huskers huskies hustler hutchinson hydrogen hyperion hypnotic hysteria ian ibm ice iceberg icebreaker icecream
        icecube iceland iceman identity idiot ignacio iguana ihatelife ihateu ihateyou illinois illmatic illuminati
        illusion ilovegod iloveher ilovehim ilovejesus iloveme ilovemom ilovemymom ilovemyself ilovepussy ilovesex
        iloveu ilovey iloveyou imagination imagine immortal imperial imperium impossible impreza inception incredible
        incubus independent india indian1 indiana indians indigo indonesia industry infamous inferno infinite infiniti
        infinito infinity informatica information inkognito innocent innovation insane insanity insider insight insomnia
        inspector inspired instagram installer instinct institute insurance integra intel intelligence inter interact
        interior internal international internet interpol interstate intrepid intruder inuyasha invasion investor
        invierno invincible invisible inviteme iphone ireland irish ironhide ironhorse ironmaiden ironman ironmike
        irvine isabel isabella isabelle isaiah iskander islam island isolation israel istanbul itachi italia italian
        italiano italy itsmine ivan ivanhoe iverson jack jackal jackass jackdaniel jackdaniels jackhammer jackie jackpot
        jackson jacksonville jacob jaguar jaguars jailbird jaimatadi jakarta jake jamaica james james007 jamesbond
        jamesdean jamie jamjam jamming janet januar january japan japanese jasmin jasmine jason jasper1 javelin javier
        jaws jayden jayhawk jayhawks jayz jazzman jeanette jedi jediknight jeep jeepjeep jeepster jefferson jeffhardy
        jeffrey jehovah jelly jellybean jellyfish jenna jennie jennifer jennings jenny jeremiah jeremy jericho jerkoff
        jerome jeronimo jerry jersey jerusalem jesse jessica jessicaalba jessie jester1 jesus jesuschrist jesusfreak
        jesusislord jesuslives jetaime jethro jets jetta jewels jiggaman jigsaw jimbob jimenez jimihendrix jimmy
        jimmypage jingles jkl jkljkl joanna joanne jocelyn joejonas joel johanna johannes john john316 johnboy johncena
        johndoe johnlennon johnmark johnny johnpaul johnson johnwayne jojojo joker jokers jonasbrothers jonathan
        jonathon jordan jorge jose joseph josephine joshua josie journey joy joyful joyjoy joystick juan juanita
        judgement judith juggalo juggernaut juli julia julian juliana julie juliet juliette julio july jumanji jumbo
        jumper june jungle junior juniper jupiter jurassic justdoit justforfun justice justin justinbieber justine
        justus juvenile juventud juventus kahlua kaiser kaitlyn kakashi kamikaze kangaroo kansas kanye karachi karaoke
        karate karen karina karl karlmarx kasper katarina kate katherine kathleen kathryn kathy katie katmandu katrina
        kawaii kawasaki kayla kayleigh keepout kelly kelsey kendall kendrick kennedy kenneth kennwort kenny kentucky
        kenya kerala kermit kerouac ketchup kevin keyboard keystone kickass kickboxing kickflip kidrock kids kilimanjaro
        kill killbill killemall killer killerkiller killers killjoy killme killyou killzone kilo kimball kimberley
        kimberly kimmie kindness king kingdom kingfisher kingking kingkong kingpin kings kingsley kingston kinky kirk
        kirsten kiss kisses kissing kissme kissmyass kitchen kitten kittens kitty kittycat kittykat kittykit kiwi
        klingon klondike knickers knicks knight knights knockout knowledge knuckles kobayashi kobe kobebryant kocham
        kodak kodiak koeln kolobok kolokolo korea korean korn koroleva krishna krissy kristen kristian kristin kristina
        kristine kryptonite kungfu kyle labrador labtec labyrinth lacoste lacrosse ladies lady ladybird ladybug lakeland
        lakers lakeside lakewood lambchop lambda lamborghini lampard lancaster lance lancelot lancer landlord landmark
        landrover language laptop larkin larry larsson laserjet lassie lasvegas latina laugh laughing laughter laura
        lauren laurence lavalamp lavender lavinia lawnmower lawrence lawson lawyer lazy leandro learning leather
        leavemealone lebanon leblanc lebron ledzep ledzeppelin leedsutd legacy legalize legend legendary legolas
        leicester leighton lemon lemonade lemonhead lemontree lennon lenovo leo leonard leonardo leonidas leopard
        leprechaun lesbian lesbians leslie letmein letmeinn letsgo letters levis lexingky lexington lexmark lexus liam
        libertad liberty libra librarian library license lick lickit lickme liebe lieutenant life lifeguard lifeline
        lifesucks lifetime lightbulb lighthouse lightning lights lilac lillian lily lima lime limewire limited lincoln
        linda lindsay lindsey lineage linebacker lineman link linkedin linkin linkinpark linux lion lionheart lionking
        lions lipstick lisa lisboa listening lithium litterbox little1 littlebit littlegirl littleman littleone livelife
        liverpool livestrong livewire livingston lizard lkjhg lkjhgfdsa llamas loading lobster location lockdown
        locksmith logan login logistics logitech logmein logon lol lolipop lolita lollipop lollol lollypop london
        loneliness lonely lonestar lonewolf longbeach longboard longdong longhair longhorn longhorns longjohn longshot
        lookout loophole lord lordlord lordoftherings lorena lorenzo lorraine losangeles loser lottery lotus louis
        louise louisiana louisville lovable love love4ever loveable lovebird lovebug lovechild lovehate lovehurts loveit
        loveland loveless lovelife lovelove lovely lovemaking loveme lover loverboy lovergirl lovers lovesex lovestory
        loveu loveyou loving lowrider loyalty lucas lucia lucifer lucifer666 lucky luckydog luckyone luckystar lucy
        ludacris luigi luis lukeskywalker lululu lumber lumberjack lunatic luscious lust lust4life lusty luxembourg
        lyndsey lynx macarena macaroni macbeth macdonald machine machines macintosh mackenzie macromedia madagascar
        maddison madeleine madeline madhouse madison madman madmax madness madonna madrid maestro magazine magellan
        magenta maggie magic magical magician magister magnetic magnolia magnum mahalkita mahalo mahogany maiden mailman
        maintain majestic major malachi malaysia malcolm maldives malibu malice mallorca mallory mama mamacita mamamama
        mamamia mamapapa mami mamita man manager manchester manchesterunited mancity mandarin mandolin mandrake mandy
        mango maniac mankind manning18 manson mantis manuel manunited manutd maple mapleleaf mapleleafs maradona
        maranatha marantz marathon marcel marcelo march marco marcos marcus margaret margarita margaux marge maria
        mariachi mariah mariana marie marijuana marilyn marina marine mariners marines marino13 mario mariposa marissa
        maritime marjorie mark market marketing markiza markus marlboro marley marlins marmalade marriage married mars
        marshal marshall marshmallow martha martin martina martinez martini marvin mary maryann maryanne marybeth
        maryjane maryjane1 maryland maserati mason massacre massage massimo master masterchief masterkey mastermind
        masterpiece masters mastiff matador matchbox material math mathematics mathew matilda matrix matt matthew
        matthias maurice mauricio maverick max maxima maximus maxmax maxpower maxwell may maybe mayflower mayhem maynard
        mazda mazda626 mazdarx7 mazdarx8 mccartney mcdonalds mcgregor mckenzie mclaren mdp meadow meatball meathead
        meatloaf mechanical mechanics medical medicina medicine medieval meditation mediterranean medusa megadeth
        megaman megan megapass megatron melancholy melanie melbourne melisa melissa melody melon melrose melvin
        membership memorial memories memphis menace mendoza mephisto mercedesbenz merchant mercury mercy meredith
        meridian merlin mermaid merovingian merrill messenger messi metal metalhead metallic metallica method metroid
        metropolis mets mexican mexico miami miamor michael michaela michaeljackson michaeljordan michaels michelangelo
        michele michelin michelle michelob michigan mickey mickeymouse microlab microphone microsoft microwave midget
        midnight midnite midwest mightymouse miguel miguelito mike mikey milan milena mileycyrus military milkshake
        millenia millenium millennium milligan million millionaire millions millwall milwaukee mindless minecraft minime
        minimum minister ministry minnesota minnie minotaur minstrel miracle miracles mirage miranda mischief mission
        mississippi missouri missy mistress misty1 mitchell mitsubishi miyamoto mnbvc mnbvcxy mnbvcxz mobile mobydick
        modelsne moderator modern mohamed mohammed mohawk molecule molly molotov mom momanddad momdad mommy monaco
        monarch monday money moneyman moneymoney mongoose monica monika monitor monkey monkeybutt monkeyman monkeys
        monopoly monorail monster monsters montag montague montana monte montecarlo monterey monteverde montgomery
        montreal monumental moon moonbase moonbeam mooncake moonlight moonraker moonshine moonstone moonwalker moose1
        morales mordor mordred moreno morgan moron morpheus morrison mortalkombat mortgage morton moscow moskva mosquito
        motdepasse mother motherfucker motherland motherlode motion motocross motor motorbike motorcycle motorhead
        motorola mountain mountaindew mountaineer mouse mousepad moustache movie movies mozart1 mudvayne muenchen muffin
        muhammad muhammed mulan multimedia mum mumbai mummy munchkin munich murcielago murder murderer murphy murray
        muscle museum mushroom mushrooms music musica musical musician muslim mustang mustangs mustard mutation mybaby
        mychemicalromance mylife mylove mymoney mymusic myname mypassword mysecret myself myspace mysql mystery mystic
        mystical mystique mywife nacional nakamura naked namaste nana nancy napalm napoleon napoli narayana narnia
        naruto nascar natalia natalie natasha nathalie nathan nathaniel nationals nature naughty naughtyboy nautica
        nautilus navigator navy navyseals nebraska necromancer nederland negative nelson1 nemesis nemo neo neopets
        neptune nescafe netflix netscape network networking nevada never neverdie neverland nevermind nevermore
        newcastle newcomer newjersey newlife newpassword newport newports newspaper newton newworld newyear newyork
        newzealand nextel neymar nguyen nicaragua nicegirl niceguy nicholas nicholson nickelback nickjonas nickname
        nicola nicolas nicole nicotine nigeria night nightfall nightfire nighthawk nightingale nightlife nightmare
        nightowl nightshade nighttime nightwing nightwish nike nikita nikki nikolai nikon nimrod nina ninja ninjas
        nintendo nipple nipples nirvana nissan nitro nitrogen noah nobody nobodyknows nocturne noisette nokia nokia6300
        nokian73 nomads noname none nono nonsense nopass nopassword norge norman normandy north northern northside
        northstar northwest northwood norway norwich nostalgia nostradamus nostromo notebook nothing notorious notredame
        nottingham november novembre nuclear nude nudes nudist nugget number1 numberone numbers numero1 numlock nurse
        nursing nutcracker nutella nutmeg nuttertools nvidia oakland oakley oasis oatmeal obelix oblivion obrien
        obsession obsidian ocean oconnor octavia october octopus odyssey office offline offroad offshore offspring ohio
        oilers oklahoma oldman oldpassword oldschool oldskool oldsmobile oliver olivetti olivia olivier olson olympia
        olympiakos olympic olympus omega omsairam one onedirection onelove oneone onepiece onion online onlyone opel
        open opensesame openup operation operator optical optimistic optimus optional oracle oral orange orangejuice
        orchard orchid orchids oregon oreo organic organist organize orgasm original orioles orion orlando ortega
        orthodox osborne oscar oslo osprey othello otherside ourpassword outback outdoors outkast outlaw outlaws outside
        outsider overkill overload overlord overseas owl oxford oxygen oyster ozzie ozzy ozzy666 p@ssw0rd p@ssword
        pa55w0rd pa55word pablo pacific packard packer packers pacman padres pagoda painter painting pakistan paladin
        palermo palestine palmeiras palmtree palomino pamela panasonic pancake pancakes pancho panda pandas pandora
        pantera panther panthers panties pantyhose papa papamama paperclip papi papillon papito parachute paradigm
        paradise paradox paraguay paramedic parameter paramore paranoia paranoid parents paris parker1 parkinson
        parkside parliament parol parola parrot partizan partners pascal pass pass1word passat passcode passe passenger
        passer passion passive passkey passmaster passme passord passpass passport passthis passthru passw0rd passwd
        password passwords passwort pasta pastrami patches pathfinder patience patricia patricio patrick patriot
        patriots patterson paul paula paulina pauline pavilion payday paypal payton34 peace peaceful peacemaker peaceman
        peach peaches peachtree peacock peanut peanutbutter peanuts pearl pearljam pearson pebbles pedro peewee pegasus
        pele pelican pendragon penelope penguin penguins peninsula penis pennstate pentagon pentagram penthouse pentium
        peoples pepper peppermint peppers pepsi pepsicola pepsimax peregrine perfect perfection performance peridot
        permanent persephone persian personal perspective peru peruano pervert peter peterbilt peterpan petersen
        peterson petunia peugeot phantom pharaoh pharmacy phil413 philadelphia philip philippe philippines philips
        phillies phillip phillips philosophy phoebe phoenix phoenixx phone photo photography photos photoshop physical
        physics piano piazza picard picasso piccolo pickford pickle pickles pickup picture pictures pierre pigeon piglet
        pigtails pikachu pilgrim pilot pimp pimpdaddy pimpin pimpjuice pimpmaster pimpster pineapple pinetree pingpong
        pinhead pink pinkfloyd pinky pinnacle pinocchio pioneer pioneers pipeline piramida pirate pirates pisces pistol
        pistons pitbull pittsburgh pizza pizzahut pizzaman plane planet planeta planning planters plasma plastic
        plastics platform platinum platypus playa playboy player players playgirl playground playhouse playmate playoffs
        playstation playtime pleasant please pleaseme pleasure plumber pluto plymouth pocahontas poetry pointer poison
        poiuy poiuytrewq pokemon poker pokerface pokerstars poland polar polarbear polaris police policeman politics
        polo polopolo polopony polska poltergeist polynesia ponies pontiac pony pooh poohbear pookie1 poontang poop
        poophead poopie poopoo pooter popcorn popeye popper poppy popsicle porcupine porn pornking porno pornography
        pornos pornstar porridge porsche portable portishead portland porto portrait portugal poseidon position positive
        possible possum postal postgres postman postmaster potato potatoes potential pothead potter pounding powder
        power powerade powerful powerhouse powermac powerman powerpoint powerrangers powers practice prada praha praise
        prakash prayer precious predator predators prelude premier prescott presence presents president presley pressure
        prestige preston pretty pretzel preview priest primavera primetime primrose primus prince princes princesa
        princess princeton printer printing priority priscilla prisoner pritchard privacy private privateer problems
        process processor prodigal prodigy producer production products professional professor profile profit progress
        project prometheus promise propaganda property prophecy prophet proposal prospect prosper prosperity protect
        protection protein protocol proton provence providence proview prowler prudence psalm23 psalms psv psycho
        psychology psychosis public publisher pudding puertorico pufunga7782 pulsar puma pumbaa pumper pumpkin pumpkins
        punisher punkrocker puppies puppy puppydog puppylove purchase purgatory purple purpose pussies pussy pussycat
        pussyeater pussylover pussyman puzzle pyramid python q1w2e3 q1w2e3r4 q1w2e3r4t5 qaz qazqaz qazwsx qazwsxedc
        qazxsw qazxswedc quagmire quake quality quantum quarterback quasar quattro quebec queen queens quentin question
        quicksand quicksilver quiksilver qwaszx qwe qweasd qweasdzxc qweqwe qwer qwerasdf qwert qwerty qwertyqwerty
        qwertyu qwertyuio qwertyuiop qwertz qwertzu qwertzui r2d2c3po rabbit raccoon racecar racer racerx rachel
        rachelle racing radagast radeon radiator radical radio radioactive radiohead rafael ragnarok raider raiders
        railroad rain rainbow rainbows raindrops rainfall rainman rainyday rambler rambo ramirez rammstein ramona
        ramones rampage randall randolph random randy ranger rangers rap raphael rapper rapstar raptor rapture rapunzel
        raquel raspberry rasputin rastaman rat ratchet ratman rattlesnake raven ravens raymond razorback reaction
        reading readonly realestate reality realize realmadrid realtor reaper reason rebecca rebel rebellion rebels
        reboot receiver record recovery recruit red redalert redapple redbaron redbone redbull redcross reddevils
        reddog1 reddragon redemption redeye redeyes redfish redfox redfred redhat redhead redhorse redhot redlight
        redline redman redmond redneck redred redrose redrum1 redskin redskins redsox redstone redwing redwings redwood
        reebok referee references reflection reflex refresh reggae reggie1 regina regional register reindeer reinhard
        rejoice relation relative relax religion reloaded rememberme remington renaissance renato renault rencontre
        renegades replica reporter republic research reservoir residentevil resistance resolution respect response
        restaurant retarded retired retriever revelation revenge reverend revolution revolver rewards rewq reynolds
        rhapsody rhiannon rhinoceros rhythm ricardo rich richard richardson richie richman rickey ricky ricochet riddler
        riffraff righteous rightnow rihanna riley ringer ringo ripper riptide river riverplate riverrat riverside
        roadkill roadking roadrunner roadster roadtrip robber robbie robbins robert roberta roberto roberts robertson
        robin robinhood robinson roblox robocop rochester rock rock-n-roll rockandroll rockclimbing rocker rocket
        rockets rockey rockies rocknroll rockon rockport rocks rockstar rockwell rocky rodeo rodrigo rodrigues rodriguez
        roger rogue roland rollingstones rolltide roma roman romance romania romantic rome romeo romero ronald
        ronaldinho ronaldo rooney rooster root rootbeer rosalinda rosario rose rosebud rosemarie rosemary roses rosewood
        rosie rosita ross rotation rotterdam roughneck roulette roundabout route66 router roxanne royals royalty
        rubberduck ruben rubicon rugby rumble rumpole runaway runescape runner running rush2112 russell russia russian
        rusty rustydog rutgers ryan saab sabbath sabotage sabres sabrina sacramento sacred sacrifice sadie safari safety
        sagittarius sahara saigon sailboat sailing sailor saint saints sairam sakura salamander salami salazar salem
        sales salesman sally salmon saltlake salut salvador salvation samantha sammie sammy sample samson samsonite
        samsung samuel samurai sanandreas sanchez sanctuary sandberg sanders sandiego sandman sandra sandstorm sandwich
        sandy sanfrancisco santaclaus santacruz santafe santana santiago santos sapphire sara sarah sarajevo saratoga
        sasha sasquatch sassy sasuke satan satan666 satellite satisfaction satoshi saturday saturn saunders sauron
        sausage savage savanna savannah savatage savior saxophone scandal scarecrow scarface scarlet scarlett schalke
        schatz schmidt schmuck schnauzer schneider schnitzel scholar school schools schooner schroeder schubert schultz
        schumacher schuster schwartz science scientist scirocco scissors scooby scoobydoo scooter scorpio scorpions
        scotland scott scottish scotty1 scoubidou scrabble scramble scrapper scrappy scratch screamer screen scripture
        scrooge scrubs scruffy scumbag seabiscuit seabreeze seagull seahawks seahorse seaman seamus search1 seashell
        seaside season seattle seaworld sebastian secret secretary secretly secrets section secure security seduction
        seductive sega seinfeld selection selena seminole semperfi senator senators senegal senior sensation sensitive
        sentinel seoul sephiroth september sequence sequoia serena serenade serendipity serenity sergeant sergio serpent
        server serveur service services sesame session sessions seven sevens seventeen seventh seventy severine sevilla
        sex sexaddict sexgod sexkitten sexmachine sexman sexsex sexsexsex sexual sexxx sexy sexybitch sexyboy sexygirl
        sexylady sexymama sexyman sexyme sexypants sexysexy sexything shadow shadowman shadows shady shaggy shakespeare
        shakira shalom shamrock shanghai shangrila shania shannon shaolin shaq sharapova sharingan shark sharkbait
        sharks sharon sharpe shaun shawn shawnee shearer sheba sheepdog sheepskin sheffield sheila shelby sheldon shelly
        shelter shenandoah shepherd sheppard sherlock sherman sherry sherwood shibby shinigami shinobi shirley shit
        shitass shitface shitfuck shithead shithole shitshit shitty shiva shocker shoelace shoes shoeshine shogun
        shooter shopping shortcake shortstop shorty shotgun shotokan showboat showgirl showtime shredder shrek shutdown
        shuttle shutup siberia siberian sickboy sickness sidekick sideways sidney siemens sierra sigma sigmachi signal
        signature signin silence silencer silent silentbob silicon silicone silkroad silver silverado silverfish
        silverfox silverman silverstar silvia simba simcity simmons simon simone simple simpleplan simplicity simpson
        simpsons simulation simulator sinatra sinclair singapore singer singh singing single singleton sinister sister
        sisterhood sisters sixpack sixteen sixtynine skarbie skate skateboard skateboarding skateordie skater skating
        skeeter skeleton skeletor sketch sketchy skidmark skiing skinhead skinner skinny skipper skippy skittles skull
        sky skydive skydiver skyfire skyhawk skylark skylight skyline skype skyscraper skywalker slammer slapnuts
        slapshot slaughter slayer slayer666 sleep sleeper sleeping sleepless sleepy slimjim slimshady slipknot slippers
        slippery slots slowpoke slugger slut sluts slutty smackdown smallville smart smartass smarties smashing smeagol
        smegma smelly smile smiles smiley smirnoff smithers smiths smithson smitty smoke smoker smokey smoking smooch
        smooth smoothie smother snake snakes snapper snapple snapshot snatch sneakers snickers sniper snipers snooker
        snoopdogg snoopy snow snowball snowbird snowboard snowboarding snowbunny snowdrop snowfall snowfire snowflake
        snowfox snowman snowwhite snuffy snuggle snuggles soccer socrates sofia softail softball softtail software
        solaris soldier soldiers soleil solitaire solitude solomon solution somebody someone something somewhere sommer
        son song sonia sonic sonics sonntag sony sonyericsson sooners sophia sophie sorcerer sorceress sorry sotheby
        soto soul soulfly soulless soulman soulmate soundman soundwave south southampton southend southern southpark
        southpaw southside sovereign space spacecraft spaceman spaceship spade spades spaghetti spain spanish spanker
        spanking spanky sparhawk sparkle sparkles sparky sparrow spartacus spartan spartans special specialist
        specialized specialk species spectral spectrum speed speedball speedbird speedo speedracer speedway speedy
        spelling spencer sphinx spider spiderman spidey spiffy spike spikey spinner spirit spiritual spitfire splash
        splinter split spock spoiled spongebob spontaneous spooky spooner sporting sports sportsman sportster spotlight
        spring springbok springer springfield springs springsteen sprinkle sprinter sprite sprocket spunky spurs sputnik
        spyder squadron squall square squash squeaky squeeze squid squidward squirrel squirt ssss stacey stacy stadium
        staind staircase stalingrad stalker stallion stallone stampede standard standing stanford stanley star starbuck
        starbucks starburst starchild starcraft stardust starfire starfish starfleet stargate stargazer starlight
        starling starlite starman stars starscream starship starting startrek starwars statement statesman station
        statistics statue stayout steady stealth steel steeler steelers steelman stefan stefanie stella stepford
        steph123 stephan stephanie stephen stephens sterling stetson steve steven stevens stevenson stevie stewardess
        stewart stewie stickman sticky stigmata stiletto stimpy stinger stinker stinky stockholm stocking stockman
        stockton stoddard stone stonecold stonehenge stoneman stoner stones stonewall storage storm stormbringer stormy
        straight strange strangers strangle strategy stratford stratus strawberries strawberry streaker stream street
        streetfighter strength stretch strike striker stripper stryker stuart student students studio stuntman stupid
        stupidity stuttgart style subaru submarine suburban suburbia subway success suckdick sucker suckers suckit
        suckme suckmyass suckmydick sucks sugar sugarbaby sugarbear sugarplum suicidal suicide sullivan sultan summer
        summertime summit sun sunburst suncity sundance sunday sundevil sundown sunflower sunflowers sunglasses sunlight
        sunny sunnyboy sunnyday sunrise suns sunset sunshine suomi super superbad superbowl supercool superdog superfly
        supergirl superhero superior superman supermario supermen supernatural supernova superpower supersonic superstar
        superted superuser supervisor support supra supreme surecan surf surfboard surfer surfing surprise surrender
        survival survivor susan susana susanna suspect sutherland suzanne suzuki sverige svetlana swallow swan swansea
        sweden sweet sweetass sweetbaby sweetdreams sweetest sweetgirl sweetheart sweetie sweetiepie sweetlove sweetness
        sweetpea sweets sweetthing sweety swimmer swimming swinger swingers swinging switch switzerland sword swordfish
        sydney sylvester sylvia symbol symmetry sympathy symphony syndicate synergy syracuse sysadmin sysop system
        systems tabasco tabatha tabitha taco tacobell tacoma tacos taekwondo tailgate taiwan takahashi takedown takeshi
        talented talisman tamara tanaka tangerine tango tanner tantra tanya tarantino tarantula target tarheel tarheels
        tarzan tasmania tatiana tattoo taurus taylor taz tazmanian tea teacher teaching teakwood teamo teardrop technics
        techno technology tecktonik teddy teddybear teenager tekken telecaster telefon telefono telegraph telephone
        telescope teletubbies television temp temple temporary temppass temptation tenerife tennessee tennis tequiero
        tequila teresa terminal terminator terminus termite terrance terrapin terrible terrific terrorist terry test
        testament tester testicle testing testtest testuser tetris texans texas thailand thankgod thanks thankyou
        theater theatre thebeach thebeast thebeatles thebest thebomb theboss thecrow thecure thedevil thedoors thedude
        theend thegame thegreatone thekid theking theman themaster themonkey themoon theodore theone thepassword
        therapist therapy theresa thesims thetruth thewho thief thinker thinking thinkpad thirsty thirteen thomas
        thompson thongs thor thornton thousand threesome thriller throttle thug thug4life thuglife thumbelina thumbs
        thumper thunder thunderbird thunderbolt thunders thursday tiamo tiberius tiburon tickle tiffany tiger tigercat
        tigerlily tigerman tigers tigerwoods tigger tight tightend timber timberlake timberland timberwolf timeless
        timeout timetogo timothy tina tingting tinker tinkerbell tinman tintin titan titanic titanium titans titleist
        tits titties titty toad toadstool toasted tobias today together tokiohotel tokyo toledo tolkien tomahawk tomato
        tomatoes tombraider tombstone tomcat tommy tommyboy tommyhilfiger tommylee tomorrow toni tonight tony tonyhawk
        tonymontana tool toolbox toonarmy toor tootsie topdog topgear topgun topher topnotch topsecret torino tornado
        toronto torres tortoise torture toshiba totally tottenham touchdown toulouse tourist townhouse toyota toystory
        tracey tracker tractor tracy trademark trading traffic tragedy trailers train trainer training trains trance
        trans-am transam transfer transformer transformers transport trapper travel traveler travelling travis
        treadstone treasure treefrog treehouse trenton trespass trevor trewq triangle tribal tricolor triforce trigger
        trillium trilogy trinidad trinity triple tripleh triplets tripper tristan triumph trojan trojans trombone
        trooper tropical tropicana trouble troubles truck trucker trucks truelove trumpet trunks trustee trustme
        trustno1 trustnoone truth trying tucker tuesday tugboat tulip tunafish tunisia tupac turbine turbo turkey turnip
        turquoise turtle turtles tweety tweetybird twilight twinkie twinkle twins twinturbo twisted twister twitter
        tyler typewriter typhoon tyrannosaurus tyrone ubuntu ufo ukraine ultimate ultraman unbelievable unbreakable
        uncle undefined undercover underdog underground underoath undertaker undertow underwater underwood unforgiven
        uni unicorn unicorns unicycle unification uniform unique united unity universal universe university unknown
        unleashed unlimited unlock unlucky unreal unspoken uptown uranus urchin usa usarmy user username usmc usmc1775
        utopia vacation vacuum vader vagabond vagina valencia valentina valentine valeria valerie valhalla valiant
        validate valkyrie valley vampire vampires vancouver vandal vanessa vanguard vanhalen vanilla vanity vargas
        variable vasquez vaughn vauxhall vector vega vegas vegeta vegetable vegetarian vegitto velasquez velkommen
        velocity velvet vendetta venezia venezuela vengeance venom ventura venus verano verbatim verbena verdana
        verginia verizon vermont vernon veronica veronika versace version vertical vertigo vespucci veteran veterans
        vicious victor victoria victorious victory video videogame videos vienna vietnam vigilante viking vikings
        village villanova vincent vincenzo vintage violator violence violent violet violetta violin viper vipergts
        virginia virgo virtual virtue visitor visual vitality vivaldi vivian vladimir vodafone vodka volcano volcom
        voldemort volkswagen volleyball volunteer volvo volvo850 voodoo voyager voyeur vulture waheguru wakefield wales
        walker walkman wallace wallpaper walmart walnut walter wanda wanderer wanderlust wanker wanted warcraft wareagle
        warfare warhammer warhammer40k warlock warlord warlords warner warning warranty warren warrior warriors warsaw
        warszawa warthog washington wasp watanabe watcher water waterboy waterfall waterloo waterman watermelon
        waterpolo waters watersport watkins watson wayfarer wayne wealth weasel weather webmaster website websphere
        webster wednesday weed weed420 weekend weezer weightlifting welcome welder wellington wellness wendy werder
        werewolf wertyuio wesley west westbrook westcoast western westham westlife westminster westpoint westside
        westwood wetpussy wetter whale whatever whatsapp whatsup whatthefuck whatthehell wheeler wheeling wheels whipped
        whirlwind whiskers whiskey whisky whisper whistle whistler whitaker white whiteboy whitecat whitedog whitehorse
        whiterabbit whiterose whitesox whitetail whitewolf whitfield whitney whocares whore whynot wiccan wicked wife
        wildbill wildcard wildcat wildcats wildfire wildflower wildlife wildman wildside wildthing wildwood wilfred
        wilkinson william williams williamson willie willkommen willow1 willy wilmington wilson winchester wind windmill
        windows windowsxp windsor windsurf windward windy wine wingman wingnut winner winnie winniethepooh winning
        winnipeg winston winter wireless wisconsin wisdom wishbone witch witchcraft without wizard wizards wolf wolfen
        wolfgang wolfhound wolfman wolfmoon wolfpack wolverine wolverines wolves woman wombat womble women wonder
        wonderboy wonderful wonderland wonderwoman woodchuck woodie woodland woodstock woodward woodwork woody woofer
        woofwoof wookie woolwich wordpass wordpress workhard working workout workshop workstation world worldcup
        worldofwarcraft worship worthless wow wowwow wrangler wrestlemania wrestler wrestling wright wrinkles writer
        wrongway wrxsti wsx wsxedc wutang wwww x4ivygaf xanadu xavier xbox xbox360 xcountry xenogears xfiles xiaoxiao
        xmas xmen xray xxx xxxx xxxxx xxxxxxxx xylophone yahoo yamaha yamahar1 yamahar6 yamamoto yankee yankees yardbird
        yellow yellowstone yes yesterday yesyes yoda yogibear yolanda yorkshire yosemite yoshi youngblood yourmom
        yourname yourock yourpassword yourself youtube ytrewq yugioh yukon yvette yvonne z1x2c3v4 zachary zanzibar
        zapata zaq12wsx zaqwsx zaqwsxcde zebra zelda zeppelin zerocool zeta zeus zidane zimbabwe zinfandel zippo zodiac
        zoe zoltan zombie zombies zoomzoom zorro zulu zurich zxasqw12 zxc zxcasd zxcv zxcvb zxcvbn zxcvbnm zxczxc zzz
        zzzz
        """
}
