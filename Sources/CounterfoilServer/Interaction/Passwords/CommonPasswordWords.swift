extension CommonPasswords {
    /// The words of which people make passwords, in small letters and without the endings that they put after them.
    ///
    /// Names, love, teams, films, games, music, animals, food, months, places, makes of cars, oaths and the keyboard: what the
    /// published lists of stolen passwords are full of. The file is long because the list is.
    static let words = Set(list.split { $0 == " " || $0 == "\n" }.map(String.init))

    private static let list = """
        1234abcd 1234qwer 123abc 123qwe 123qweasd 1a2b3c 1a2b3c4d 1q2w3e 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 2pac
        2pacshakur 420420 50cent 666 666666 747 777 777777 7777777 88888888 a1b2c3 a1b2c3d4 a1s2d3f4 aaa aaaa aaaaa
        aaaaaa abc abcabc abcd abcde abcdef abcdefg abcdefgh abcdefghi abcdefghij abigail abracadabra abraham
        abrakadabra absolut absolute academy acapulco access accord acdc ace aces acmilan acoustic acura adidas admin
        administrator adobe adrenaline adrian adriana adrienne advent adventure aerosmith africa african airborne airbus
        aircraft airforce airplane ajax alabama aladdin alaska albert alberto alchemy alejandra alejandro alex alexander
        alexandra alexandre alexandria alexis alfa alfaromeo alfred alfredo alice alicia alien aliens alison allah
        allahuakbar alleycat alligator allison allow allstar allstars aloha alone alpha alphabet alphaomega always
        alyssa amanda amateur amazing amazon amber ambition amelia america american americano amor amore amour amsterdam
        amy ana anaconda anakin anal anastasia anderson andre andrea andreas andrei andrew android andromeda angel
        angela angeleyes angelica angelina angelito angelo angels angus animal animals anita anna annabelle anne annette
        annie anniversary answer antares anthony antoine anton antonia antonio anything apache apollo apple applepie
        apples april aquarius aragorn architect argentina ariel aries arizona armando armani army arnold arsenal arthur
        artist arturo asd asdasd asdf asdfasdf asdfg asdfgh asdfghj asdfghjk asdfghjkl asdfjkl asdzxc ashley ass assass
        assassin assassins asshole assholes asslick assman asterix astros athena athens athlon atlanta attack attitude
        aubrey audi audia4 audir8 audrey august augustus auntie aurora austin australi australia austria autumn
        avalanche avatar avenger avengers aviation awesome azazel azerty azertyui azertyuiop azsxdc babe babies baby
        babyangel babybaby babyblue babyboy babycakes babyface babygirl babylon babylove babyphat bacardi backup bacon
        bad badass badboy badboys badger badgirl bagger bailey baller ballet ballin balls ballsack bambi banana bananas
        bandit bangladesh bank banker banking barbara barbie barbiegirl barca barcelona barney barracuda barry bart
        bartender bartman baseball basketba basketball bass basset bassist bassman bassoon bastard bastards batgirl
        batman bayern bayernmunich bbb bbbb beach bear bears beast beast666 beatle beatles beatrice beatriz beautiful
        beauty beaver beckham bee beer beerbeer beetle beijing belgium bella belle benfica bengals benjamin benny benson
        bentley benz beowulf berlin bernard bernardo besiktas best bestest bestfriend bestfriends beta beth bethany
        betty beverly beyonce bff bffs bible bicycle bieber bienvenido bienvenue bigass bigbear bigben bigbird bigblue
        bigboss bigboy bigcock bigdaddy bigdick bigdog bigfish bigfoot biggie biggiesmalls bigguy bigmac bigman bigmoney
        bigred bigtime bigtits bigtitties bike biker bikers bilbo billionaire billkaulitz billy billybob bingo biology
        bird birdie birdman birthday bismillah bitch bitchass bitches biteme bizzare bla blabla blablabla black
        blackbelt blackberry blackbird blackcat blackdragon blackheart blackhole blackie blackjack blackmagic blackman
        blackout blacksabbath blade blades blah blahblah blank blaster bleach blessed blessing blink blink182 blizzard
        blonde blondie blood bloody blossom blow blowfish blowjob blowme blue blueberry bluebird blueblue blueeyes
        bluemoon blues bluesky bluff blur bmw bmw325 bmwbmw bmx boat bobafett bobby bobcat bobmarley boca boeing
        boeing747 bomber bond bond007 bondage bonjour bonjovi bonnie boobear boobies booboo boobs boogie book books
        boomer boots bored boring bosch boss boston bowling boxer boxers boxing boy boyfriend boys bradford bradley
        brandon brandy brasil braves bravo brazil breeze brenda brendan brett brian brianna bridge bridget british
        britney britneyspears brittany bro broadway broken broker bronco broncos bronze brooke brooklyn brother brothers
        brown brownie browns bruce brucelee bruins bruno brussels brutus bryan bubba bubble bubblegum bubbles buckeye
        buckeyes buckshot budapest buddha buddy buddyboy budlight budweiser buffalo buffy bugatti bugs bugsbunny builder
        building bulgaria bull bulldog bulldogs bullet bulletproof bullfrog bulls bullshit bumblebee bungalow bunnie
        bunnies bunny burger burning burrito burton business buster butt butter buttercup butterfl butterfly butthead
        butthole button buttons butts byteme cable cactus cadillac caesar caitlin cakes calendar californ california
        calvin camaro camel camelot camels camera cameron camila camille camry canada cancer candy candyman cannabis
        cannon canon canucks capricorn captain caramel caramelo carla carlos carmen carol carolina caroline carolyn
        carpenter carrie carrot carter cartman cartoon casey cash cashmoney casino casper cassandra cassidy cassie
        castle cat catalina catcat catdog catfish catherine catholic cats catwoman cavalier cccc cecilia celebrity
        celeste celine cell cellphone celtic celtics central century cesar challenger champ champagne champion champs
        chanel change changeme channel chantal chaos charger chargers charizard charles charlie charlotte cheater
        checkers cheese cheesecake cheetah chelsea chemical chemistry cherokee cherries cherry cheryl chess chester
        chevelle chevrolet chevy chewbacca chewie chicago chicken chickens chief chiefs child children chile china
        chinese chipmunk chipper chips chivas chloe choco chocolat chocolate chopper chris christ christian christina
        christine christmas christopher christy chronic chrono church ciao cigarette cinderella cinema cinnamon cisco
        citizen citroen civic civilization claire clara clarence clarinet class classic classroom claude claudia claudio
        clayton clinton clipper clitoris cloud clover clown clubs cobra cocacola cock cocksucker coco coconut cody
        coffee coke coldplay colin colleen college colombia colonel colorado colts commander company compaq computer
        connect connection connor constance construction contact contrasena contraseña cookie cookiemonster cookies cool
        coolcool cooldude coolgirl coolguy coolio coolman coolness cooper copper coral corey corinthians corolla corona
        corporate corvette cosmic cosmo cosmos cougar cougars counter counterstrike country countryboy courtney cousin
        cow cowboy cowboys cowgirl crab cracker crackers craig crazy crazyboy crazygirl creampie creative creator
        cricket crimson cristian cristiano cristina cruise cruiser crunch crusader crystal cstrike cuba cubbies cubs cum
        cumcum cummins cumshot cunt cupcake cure curtis custom cutie cutiepie cyber cyborg cyclone cyclops cynthia czech
        dad daddy daddysgirl daffy daisy dakota dallas dance dancer dancing daniel daniela danielle danmark danny
        dannyboy dark darkangel darklord darkness darkside darkstar darling darth darthvader database daughter david
        davidson daytona dddd dead deadhead deadpool death deathnote debbie debian deborah december default dell delta
        demo demon demons denmark dennis dentist denver depeche depechemode desert design designer desktop destiny
        detroit deutschland devil devils dfgh diablo diablo666 diamond diamonds diana dice dick dickhead diesel digimon
        dior dirty dirtybitch doctor doctorwho dodge dodgers dog dogdog doggie doggy doggystyle dogs dollar dollars
        dolphin dolphins dominic dominique domino donald donaldduck donna doom doomsday dorothy dortmund douglas
        download downtown dragon dragonball dragonballz dragonfly dragons dream dreamcast dreamer dreaming dreams
        dreamteam driver drogba11 dropbox drowssap drpepper drum drummer drums dublin ducati duchess duck duckie duckman
        ducks ducky dude dudes duke dumbass dumbledore dumbo durango dustin dynamic dynamite dynamo dynasty eagle eagles
        earth earthquake east easter eastern eastside easy easyrider eatme eatmenow eatpussy ebay echo eclipse eduardo
        edward edwardcullen eeyore egypt einstein elaine eleanor electra electric electrical electro electronic
        electronics elefant element elements elephant elite elizabeth elmo elvis elvispresley emerald emily eminem emma
        emperor empire endless energizer energy engine engineer engineering england english enigma enjoy enter
        enterprise entrance epsilon eric erica ericsson erika ernesto erotic erotica espana esther ete eternal eternity
        eugene eva evanescence everest evergreen everquest everton everyone everything evil evil666 evolution example
        excalibu excalibur exodus exotic expert explore explorer export express extreme f150 facebook fairy
        faith falcon falcons fall falling fallout falloutboy family familyguy fandango fantastic fantasy father
        fcbarcelona fdsa fdsafdsa february felipe felix fenerbahce fernand fernanda fernando ferrari fetish feyenoord
        fghj fiat fidelity fiesta fiftycent fighter fighting finalfan finalfantasy finance finger finland fire fireball
        firebird fireblade firefire firefly firefox fireman firestorm firewall first fish fishbone fisher fisherman
        fishing flamengo flames flash flashman flipper florence florida flower flowers floyd fluffy flute flyboy flyers
        foofighters football footloose ford fordf150 forest forever forget forgetit forgot forgotten formula fortnite
        fortress fortune fox foxtrot foxy foxylady france frances francesco francis francisco frank frankfurt frankie
        franklin fred freddie freddy frederic freebird freedom freeman freestyle freeze freitag french friday friend
        friends friendship friendster frodo frog froggie froggies froggy frosty frozen fruehling fuck fucker fuckers
        fuckface fuckfuck fuckhead fucking fuckinga fuckit fucklove fuckme fuckoff fuckthat fuckthem fuckthis fucku
        fuckyall fuckyou funfun funny funstuff future fuzzy gabriel gabriela gabrielle galatasaray galaxy galileo gambit
        game gameboy gamecube gamer games gaming gamma gandalf ganesh ganesha gang gangsta gangster ganja garden
        garfield garlic gary gasman gateway gator gators gay gays geforce geheim gemini general genesis genius gentleman
        george georgia gerald gerard german germany gerrard getmoney getsome ghana ghetto ghost ghostrider giants gibson
        ginger giovanni giraffe girl girlfriend girlpower girls girly github gitlab gizmo gladiator glamour glitter
        gloria glory gmail god godbless godblessme goddess godfather godfirst godgod godisgood godislove godlike
        godzilla goku gold goldberg golden goldeneye goldfish goldie goldstar golf golfball golfer golfgti golfing
        gollum good goodboy goodbye goodgirl goodlife goodluck goodnews goodtime goodtimes goofball goofy google gordon
        gorilla gothic gotohell grace gracie graffiti graham grandma grandpa granny grapes grateful great greatful
        greece green green-day greenbay greenday greenlantern gregory gremlin greyhound griffin grizzly gucci guest
        guinness guitar guitarist guitarra gunner gunners guns gunsnroses gustavo guys gymnast gymnastics hacker hackers
        haha hahaha hahahaha hallo halloween halo hamburg hamburger hamilton hamster handball handsome hannah
        hannahmontana hansolo hanuman happiness happy happybirthday happyday happyfeet happyhappy hardcore hardware
        harley harleydavidson harmony harold harry harrypotter harrystyles harvest hate hateme hater666 hatred hawaii
        hawaiian hawk hawkeye hawkeyes hawks heart heartbreak hearts heat heather heaven heavenly heavymetal heckfyxbr
        hector heidi heineken helen helena helicopter hell hellfire hello hellohello hellokitty hellothere helloworld
        hellyeah helpdesk helsinki hendrix henry herbst hercules hermes hermione hero heroes hewlett hewlettpackard
        hiawatha highland highlander highlife highschool hip-hop hiphop history hiver hjkl hobbes hobbit hockey hogwarts
        hola holahola holiday holland hollywood holy holyspirit homer homerun homework homie homies honda hondacivic
        honey honeybee honeybun hongkong honolulu hood hookers hoosiers hooters hope horizon hornet hornets horny horse
        horses hotboy hotdog hotdogs hotel hotgirl hotmail hotrod hotshot hotstuff hottie houston howard hugs hulk
        hummer hungary hunter hunting hurricane husband huskers hustler ian ibm ice iceberg icecream icecube iceland
        iceman idiot ignacio iguana ihatelife ihateu ihateyou illusion ilovegod iloveher ilovehim ilovejesus iloveme
        ilovemom ilovemymom ilovemyself ilovepussy ilovesex iloveu ilovey iloveyou imagination imagine impreza india
        indian1 indiana indians indigo indonesia infinite infinity insane insanity insomnia instagram integra intel
        inter internet intrepid inuyasha invierno invisible iphone ireland irish ironmaiden ironman isabel isabella
        isabelle islam island israel istanbul itachi italia italian italy ivan iverson jack jackal jackass jackdaniel
        jackdaniels jackie jackpot jackson jacob jaguar jaguars jaimatadi jake jamaica james james007 jamesbond jamie
        janet januar january japan japanese jasmin jasmine jason javier jaws jayden jayhawk jayhawks jayz jeanette jedi
        jediknight jeep jeepjeep jeepster jeffrey jehovah jelly jellybean jellyfish jenna jennie jennifer jenny jeremy
        jerome jerry jerusalem jesse jessica jessie jesus jesuschrist jesusfreak jesusislord jesuslives jetaime jets
        jetta jigsaw jimbob jimmy jkl jkljkl joanna joanne joejonas joel john john316 johncena johndoe johnlennon johnny
        johnson jojojo joker jokers jonasbrothers jonathan jonathon jordan jorge jose joseph josephine joshua josie
        journey joy joyful joyjoy juan juanita judith juggalo juli julia julian juliana julie juliet juliette julio july
        june jungle junior jupiter justice justin justinbieber justine juventus kangaroo kanye karate karen karina karl
        kate katherine kathleen kathryn kathy katie katrina kawasaki kayla kelly kelsey kenneth kennwort kenny kentucky
        kenya kermit kevin keyboard kids kill killbill killer killerkiller killme killyou kilo kimball kimberley
        kimberly king kingdom kingfish kingking kingkong kinky kirk kiss kisses kissme kissmyass kitten kittens kitty
        kittycat kittykat kiwi klondike knicks knight knights kobe kobebryant kocham kodak kodiak koeln kolobok korea
        korean korn krishna krissy kristen kristin kristina kristine kyle labrador labtec lacoste ladies lady ladybird
        ladybug lakers lamborghini lampard lancaster lance lancelot lancer laptop larry lassie lasvegas latina laugh
        laughing laura lauren lavalamp lavender lawrence lawyer lazy leather lebron ledzeppelin legend legendary legolas
        lemon lemonade lennon lenovo leo leonard leonardo leopard lesbian lesbians leslie letmein letmeinn letters levis
        lexmark lexus liam libertad liberty libra library license lick lickit lickme liebe life lifeline lifetime
        lightnin lightning lilac lily lima lime lincoln linda lindsay lindsey link linkedin linkin linkinpark linux lion
        lions lisa lisboa liverpoo liverpool lizard lkjhg lkjhgfds lkjhgfdsa lobster location logan login logitech
        logmein logon lol lolipop lollipop lollol lollypop london lonely longhair longhorn longhorns lord lordlord
        lordoftherings lorena lorenzo lorraine losangeles loser lottery louis louise louisiana love love4ever lovebug
        lovehurts loveit loveless lovelife lovelove lovely loveme lover loverboy lovergirl lovers lovesex loveu loveyou
        loving lucas lucia lucifer lucifer666 lucky lucy luigi luis lukeskywalker lumber lunatic lust lust4life lusty
        lynx macbeth macintosh macromedia madison madmax madness madonna madrid maggie magic magical magician magnetic
        magnolia magnum maiden mailman majestic major malaysia malibu mallory mama mamamia mamapapa mami mamita man
        manager manchester manchesterunited mancity mango maniac manson manuel manunited manutd maple mapleleafs
        maradona marantz marcel marcelo march marco marcos marcus margaret margarita marge maria mariah mariana marie
        marijuana marilyn marina marine mariners marines mario marissa marjorie mark market markus marlboro marley
        marlins mars marshall martha martin martina marvin mary maserati mason master masterkey math mathematics matrix
        matt matthew matthias maurice mauricio maverick max maxima maximus maxmax maxwell may maybe maynard mazda
        mazdarx7 mazdarx8 mccartney mdp meatball meathead mechanic medusa megadeth megaman megan melanie melbourne
        melissa melon melvin memories memphis mercedes mercedesbenz mercury mercy meredith merlin messi metal metallic
        metallica metroid mets mexico miami michael michaeljackson michaeljordan michele michelle michigan mickey
        mickeymouse microsoft midget midnight miguel mike mikey milan milena mileycyrus military millenium millennium
        million millionaire millions millwall minecraft minime minnesota minnie miracle mirage miranda mischief mission
        mississippi missy mitchell mitsubishi mnbvc mnbvcxy mnbvcxz mobile mobydick mohamed mohammed mohawk molly mom
        momanddad momdad mommy monday money moneyman moneymoney monica monika monitor monkey monkeybutt monkeyman
        monkeys monopoly monster monsters montag montana montreal moon moonbeam moonlight moonshine mordor morgan moron
        morpheus morrison mortalkombat mortgage moscow moskva motdepasse mother motherfu motherfucker motocross motor
        motorbike motorola mountain mountaindew mouse movie movies muenchen muffin muhammad mulan mum mumbai munchkin
        munich murder murderer mushroom music musica musical musician muslim mustang mustangs mybaby mychemicalromance
        mylife mylove mymoney mymusic myname mypassword myself myspace mysql mystery mystic mystique mywife naked nana
        nancy napoli narnia naruto nascar natalia natalie natasha nathalie nathan nathaniel national nature naughty
        nautilus navy navyseal navyseals nebraska nederland nemesis nemo neo neptune netflix netscape network nevada
        never nevermind nevermore newcastle newjersey newlife newpassword newport newton newyear newyork neymar nicholas
        nickelback nickjonas nicola nicolas nicole nigeria night nighthawk nightmare nightshade nightwing nike nikita
        nikki nikolai nikon nimrod nina ninja ninjas nintendo nipple nipples nirvana nissan nitro noah nobody nokia
        nokia6300 nokian73 noname none nono nopass nopassword norge norman north northern northside norway nostromo
        notebook nothing notredame november nude nudes nugget number1 numberone numero1 nurse nursing nvidia oakland
        oasis oblivion ocean october octopus office offline offspring ohio oilers oldpassword oliver olivia olivier
        olympic olympus omega omsairam one onedirection onelove oneone onepiece onion online opel open opensesame openup
        operator optical optimist optimus oracle oral orange orchid oreo organist orgasm orioles orion orlando oscar
        oslo ourpassword outback outkast outlaw overlord owl oxford oyster ozzy ozzy666 p@ssw0rd p@ssword pa55w0rd
        pa55word pablo pacific packard packer packers pacman padres pakistan palmeiras palmtree pamela panasoni
        panasonic panda pandas pandora pantera panther panthers panties pantyhose papa papamama papi papillon papito
        paradise paradox paranoid parents paris parol parola parrot pascal pass passat passcode passe passenger passer
        passion passkey passme passord passpass passport passthis passthru passw0rd passwd password passwords passwort
        pasta patches patricia patrick patriots paul paula paulina pauline paypal peace peaceful peach peaches peacock
        peanut peanutbutter peanuts pearl pearljam pebbles pedro peewee pegasus pele penelope penguin penguins penis
        penthouse pentium pepper peppers pepsi perfect peru pervert peter peterpan peterson peugeot phantom philip
        philippines philips phillies phillip phoenix phone photo photography photos photoshop physics piano picard
        piccolo pickle pickles picture pictures pierre pigeon piglet pikachu pilot pimp pimpdaddy pimpin pimpster
        pineapple pink pinkfloyd pinky pinnacle pioneer pipeline pirate pirates pisces pistons pitbull pizza plane
        planet plastic platinum playa playboy player playgirl playmate playstat playstation playtime please pleaseme
        pleasure pluto pocahontas poetry poison poiuy poiuytre poiuytrewq pokemon poker pokerface poland polaris police
        policeman polo polopolo polska ponies pontiac pony pooh poohbear poontang poop poophead poopie poopoo pooter
        popcorn popeye popper poppy porn pornking porno pornos pornstar porsche porsche911 portable portland porto
        portugal positive postal postgres postman potato potatoes pothead potter powder power powerful powers prada
        praha prayer precious predator predators prelude premier president pressure prestige pretty primetime prince
        princesa princess princeton printer priscilla private producer project promise prosper protocol proview psv
        psycho public pulsar puma pumbaa pumper pumpkin pumpkins punisher puppies puppy puppydog puppylove purple
        pussies pussy pussycat pussylover puzzle pyramid python q1w2e3 q1w2e3r4 q1w2e3r4t5 qaz qazqaz qazwsx qazwsxedc
        qazxsw qazxswedc quake quality quantum quebec queen qwaszx qwe qweasd qweasdzxc qweqwe qwer qwerasdf qwert
        qwerty qwertyqwerty qwertyu qwertyui qwertyuio qwertyuiop qwertz qwertzu qwertzui r2d2c3po rabbit racecar racer
        rachel rachelle racing radeon radical radio radiohead rafael raider raiders rain rainbow raindrop rainfall
        rainman rambo ramona rampage randy ranger rangers rap rapper rapstar raptor rapture raquel raspberry rastaman
        rat raven ravens raymond reading reality realmadrid realtor reaper rebecca rebel rebels recovery red redalert
        redbull reddragon redfox redhat redhead redhot redline redneck redred redrose redskins redsox redwings reebok
        referee reggae regina regional register reloaded remember rememberme remington renato renault rencontre revenge
        revolution revolver rewq reynolds ricardo rich richard richie richman ricky ricochet riddler rightnow rihanna
        riley ripper river riverplate roadking roadrunner robber robert roberto robertson robin roblox robocop rock
        rock-n-roll rocker rocket rockets rocknroll rockon rocks rockstar rocky rodrigo roger rogue roland rollingstones
        rolltide roma roman romania rome romeo ronald ronaldinho ronaldo rooney rooster root rosario rose rosebud
        rosemary roses rosie ross rotterdam roulette router roxanne royals ruben rugby runescape runner running russell
        russia russian rusty ryan saab sabbath sabotage sabres sabrina sadie safari sagittarius sailboat sailing sailor
        saints sairam sales salesman sally salut salvador salvation samantha sammie sammy sample samson samsung samuel
        samurai sanchez sandiego sandra sandy sanfrancisco santafe santiago santos sara sarah sarajevo sasha sasuke
        satan satan666 satellite saturday saturn sauron sausage savior saxophon saxophone scarface scarlet schalke
        schatz school schuster science scooby scoobydoo scorpio scorpion scotland scott scrappy scruffy seagull seahawks
        search1 seashell season seattle sebastian secret secrets secure security seduction seductive sega selena
        seminole senator seoul sephiroth september sergeant sergio server service sesame seven sevens sevilla sex sexsex
        sexsexsex sexual sexxx sexy sexybitch sexyboy sexygirl sexylady sexymama sexyman sexyme sexysexy sexything
        shadow shadows shady shaggy shakira shalom shamrock shanghai shania shannon shaq shark sharks sharon shaun shawn
        sheepdog sheila shelby sheldon shelly shelter sherry shibby shinobi shirley shit shitface shithead shitshit
        shiva shocker shooter showtime shrek siemens sierra sigma signature signin silence silver silvia simba simcity
        simon simone simpleplan simpson simpsons singer singing single sister sisters sixpack skarbie skate skateboard
        skater skating skeeter skeleton skiing skinhead skinny skipper skull sky skydiver skyhawk skyline skype
        skywalker slayer sleeping sleepy slimshady slipknot slippery slots slugger slut sluts slutty smile smiles smiley
        smirnoff smiths smoke smoker smokey smoking smooth smoothie snake snakes snapper snickers sniper snooker
        snoopdog snoopdogg snoopy snow snowball snowboard snowboarding snowflake snowman snowwhite snuggles soccer
        socrates sofia softball softtail solaris soldier soleil solomon solution somebody someone something sommer son
        song sonia sonic sonics sonntag sony sonyericsson sooners sophia sophie sorry soul soulfly soulmate south
        southpark southside space spade spades spaghetti spain spanish spanker spanking sparky spartan spartans special
        specialk spectrum speed speedo speedracer speedy spencer sphinx spider spiderma spiderman spidey spike spinner
        spirit spitfire spock spoiled spongebob sporting spring springer sprite sprocket spunky spurs sputnik spyder
        square squidward squirrel squirt ssss stacey stacy stallion stallone stanford stanley star starbucks starcraft
        stardust starfish stargate starlight starlite stars starship startrek starwars station statistics stealth steel
        steeler steelers steelman stefan stefanie stella stephanie stephen sterling steve steven stewart stewie sticky
        stockholm stocking stone stonecold stoner stones storm stormy strange stranger strangers stratus strawber
        strawberry streetfighter strength stryker stuart student students stupid subaru success suckdick sucker suckers
        suckit suckme suckmydick sucks sugar summer summertime summit sun sundance sunday sunflower sunny sunnyday
        sunrise suns sunset sunshine suomi super superbad superfly supergirl superior superman supernatural supernova
        supersonic superstar superuser supervisor support supra supreme surf surfer surfing susan susana suzanne suzuki
        sverige svetlana swan sweden sweet sweetheart sweetie sweetnes sweetness sweetpea sweets sweety swimmer swimming
        swinger switch switzerland sword swordfish sydney sylvia symphony sysadmin sysop system taco tacos taekwondo
        taiwan talisman tamara tango tanner tanya tarantula tarheels tatiana taurus taylor taz tazmania tazmanian tea
        teacher teamo teardrop technics techno technolo technology teddy teddybear tekken telephone teletubbies
        television temp temporary temppass temptation tennesse tennessee tennis tequiero tequila teresa terminator
        termite terrapin terry test tester testing testtest testuser tetris texans texas thailand thanks thankyou
        thebeatles thebest theboss thecure thedoors theend thegame thekid theking theman themaster theodore theone
        thepassword theresa thief thinking thirteen thomas thor thousand throttle thug thug4life thuglife thumbs thumper
        thunder thunderbird thursday tiamo tiffany tiger tigercat tigers tigerwoods tigger tight timber timothy tina
        tingting tinker tinkerbe tinkerbell tinman titan titanic titanium titans tits titties titty toad today together
        tokiohotel tokyo tolkien tomahawk tomato tombstone tomcat tommy tommyhilfiger tomorrow toni tonight tony
        tonymontana tool toolbox toonarmy toor topgun topsecret tornado toronto toshiba tottenham toyota tracey tracker
        tractor tracy trading train trainer trains trans-am transam travel traveler travis treasure trevor trewq
        tricolor trigger trinity triplets tristan triumph trojan trojans trombone tropical truck trucker trucks truelove
        trumpet trustme trustno1 trustnoone tucker tuesday tulip tupac turbo turkey turquoise turtle turtles tweety
        tweetybird twilight twins twitter tyler ubuntu ukraine ultimate ultraman uncle underground undertak undertaker
        uni unicorn uniform united universal universe university unlimited unreal uranus usa user username usmc usmc1775
        vacation vader vagabond vagina valencia valentin valentina valentine valeria valerie valhalla vampire vampires
        vancouver vanessa vanhalen vanilla vegas vegeta velkommen venezuela vengeance venom venus verano veronica
        veronika versace victor victoria victory video videos vienna vietnam viking vikings vincent violet violin viper
        virginia virgo vladimir vodka voldemort volkswagen volleyball volvo voyager voyeur waheguru wales walter wanda
        warcraft warhammer warlord warren warrior warriors warszawa wasp water waterfall waterloo watermelon waters
        watson wayne weasel webmaster website webster wednesday weed weed420 weekend welcome wendy werewolf wertyuio
        wesley west western westham westside whale whatever whatsapp wheels whiskers whiskey whisky whisper whistler
        white whiteboy whitney whocares whore wicked wife wildcat wildcats wildfire wildlife wildman william williams
        willie willkommen willy wilson wind windmill windows windowsxp windy wine winner winnie winniethepooh winning
        winston winter wireless wisconsin wisdom witch wizard wizards wolf wolfen wolfgang wolfman wolfpack wolverin
        wolverine wolves woman women wonder wonderful woodland woody woofwoof wordpress working workout world worldcup
        worldofwarcraft wow wowwow wrangler wrestler wrestling writer wsx wsxedc wutang wwww x4ivygaf xanadu xavier xbox
        xbox360 xfiles xmen xray xxx xxxx xxxxx xxxxxxxx yahoo yamaha yamahar1 yamahar6 yankee yankees yellow yes
        yesterday yesyes yoda yolanda yoshi youngblood yourmom yourpassword youtube ytrewq yugioh yvette yvonne z1x2c3v4
        zachary zaq12wsx zaqwsx zaqwsxcde zebra zelda zeppelin zeta zeus zidane zippo zoe zombie zombies zoomzoom zorro
        zulu zurich zxasqw12 zxc zxcasd zxcv zxcvb zxcvbn zxcvbnm zxczxc zzz zzzz
        """
}
