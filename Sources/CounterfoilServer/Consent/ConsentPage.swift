/// The question whether an application may use the account; it posts `decision`, `request` and `ticket`.
///
/// `decision` is `allow`, `deny` or, to the other action, `switch`. A permission that the person may leave out is a field
/// `permission.SCOPE` with the value `granted`, absent when it was left out.
public struct ConsentPage: Sendable, Hashable {
    /// Where the answer is sent, as far as the person can tell it apart.
    public enum RedirectDestination: Sendable, Hashable {
        /// A program on this computer, by the address literal that was registered (RFC 8252 §7.3).
        case thisComputer(host: String)
        /// A program on this computer, registered as `localhost`, a name that need not lead there (RFC 8252 §8.3).
        case thisComputerByName
        /// The app that owns a private-use scheme (RFC 8252 §7.1).
        case app(scheme: String)
        /// A website, or an app that claimed one of its addresses (RFC 8252 §7.2).
        case website(host: String)
    }

    /// One thing that the application asks to be allowed.
    public struct Permission: Sendable, Hashable {
        /// The scope token that it stands for.
        public var scope: String
        /// What it allows, in words: "See your photos and albums".
        public var title: String
        /// Where it ends, or what it means, in one sentence.
        public var detail: String?
        /// Whether the application can do nothing without it; otherwise the person may leave it out.
        public var required: Bool
        /// The initial state of its box, where it is not required.
        public var isTicked: Bool
        /// Whether the person has allowed the application something before, and this not.
        public var isNew: Bool

        /// Makes a permission.
        public init(
            scope: String, title: String, detail: String? = nil, required: Bool = true, isTicked: Bool = false,
            isNew: Bool = false
        ) {
            self.scope = scope
            self.title = title
            self.detail = detail
            self.required = required
            self.isTicked = isTicked
            self.isNew = isNew
        }
    }

    /// A page of the application's publisher.
    public struct Link: Sendable, Hashable {
        /// The address, over https.
        public var address: String
        /// Whose page it is.
        public var host: String

        /// Makes a link.
        public init(address: String, host: String) {
            self.address = address
            self.host = host
        }
    }

    /// The name that the application goes by.
    public var applicationName: DisplayName
    /// Who publishes the application, where it is known.
    public var publisher: DisplayName?
    /// What stands in the place of the application's logo where it has none.
    public var applicationInitials: String
    /// The path of the application's logo.
    public var applicationLogo: String?
    /// Whether somebody who runs the service knows who publishes the application.
    public var isVouchedFor: Bool
    /// Where the answer goes.
    public var redirectDestination: RedirectDestination
    /// The person who is signed in.
    public var personName: DisplayName
    /// The person's e-mail address, masked.
    public var personEmail: MaskedEmail?
    /// The path that the answer posts to.
    public var action: String
    /// The path that "Not you?" posts to, with `decision=switch`.
    public var switchAccountAction: String
    /// The authorization request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// What is asked for, in the order in which it is shown.
    public var permissions: [Permission]
    /// What the service itself says, marked as its own words.
    public var siteWords: SafeHTML?
    /// What the service says of the use of data.
    public var sitePrivacy: Link?
    /// What the application itself says, marked as its own words.
    public var applicationWords: SafeHTML?
    /// What the publisher says of the use of data.
    public var privacy: Link?
    /// Under which terms the application is used.
    public var terms: Link?
    /// The APIs that take the access, each with its host; none when it is the service itself.
    public var resources: [DisplayName]
    /// How long it holds, in one sentence, such as "Until you disconnect it, at most 180 days".
    public var lifetime: String
    /// That the person allowed the application before, in one sentence.
    public var earlierConsent: String?
    /// The way to the browser from a web-view in which the page is shown, which is warned of; nil anywhere else.
    public var wayToBrowser: WayToBrowser?

    /// Whether anything can be left out.
    public var hasChoice: Bool { permissions.contains { !$0.required } }

    /// Makes the question; the initials follow from the names unless they are given.
    public init(
        applicationName: DisplayName, publisher: DisplayName? = nil,
        applicationInitials: String? = nil, applicationLogo: String? = nil, isVouchedFor: Bool = true,
        redirectDestination: RedirectDestination,
        personName: DisplayName, personEmail: MaskedEmail?, action: String, switchAccountAction: String,
        request: String, ticket: String, permissions: [Permission], siteWords: SafeHTML? = nil,
        sitePrivacy: Link? = nil, applicationWords: SafeHTML? = nil,
        privacy: Link? = nil, terms: Link? = nil, resources: [DisplayName] = [], lifetime: String,
        earlierConsent: String? = nil, wayToBrowser: WayToBrowser? = nil
    ) {
        self.applicationName = applicationName
        self.publisher = publisher
        self.applicationInitials = applicationInitials ?? applicationName.initials
        self.applicationLogo = applicationLogo
        self.isVouchedFor = isVouchedFor
        self.redirectDestination = redirectDestination
        self.personName = personName
        self.personEmail = personEmail
        self.action = action
        self.switchAccountAction = switchAccountAction
        self.request = request
        self.ticket = ticket
        self.permissions = permissions
        self.siteWords = siteWords
        self.sitePrivacy = sitePrivacy
        self.applicationWords = applicationWords
        self.privacy = privacy
        self.terms = terms
        self.resources = resources
        self.lifetime = lifetime
        self.earlierConsent = earlierConsent
        self.wayToBrowser = wayToBrowser
    }
}
