/// The consent page; it posts `decision`, `request` and `ticket`.
///
/// `decision` is `allow`, `deny` or, for the other account action, `switch`. An optional permission is a field
/// `permission.SCOPE` with the value `granted`, which is absent if the user deselects it.
public struct ConsentPage: Sendable, Hashable {
    /// The destination of the response, as far as the user can distinguish it.
    public enum RedirectDestination: Sendable, Hashable {
        /// A program on this computer, at the registered IP address literal (RFC 8252 §7.3).
        case thisComputer(host: String)
        /// A program on this computer, registered as `localhost`, a name that need not resolve to it (RFC 8252
        /// §8.3).
        case thisComputerByName
        /// The app that owns a private-use scheme (RFC 8252 §7.1).
        case app(scheme: String)
        /// A website, or an app that claimed one of its URLs (RFC 8252 §7.2).
        case website(host: String)
    }

    /// A permission that the client requests.
    public struct Permission: Sendable, Hashable {
        /// The scope token of the permission.
        public var scope: String
        /// The description of the permission, such as "See your photos and albums".
        public var title: String
        /// The limits or the meaning of the permission, in one sentence.
        public var detail: String?
        /// Whether the client requires the permission; otherwise the user may deselect it.
        public var required: Bool
        /// The initial state of the box, if the permission is optional.
        public var isTicked: Bool
        /// Whether the permission is new: the user has allowed this client something before, but not this.
        public var isNew: Bool

        /// Creates a permission.
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

    /// A link to a page of the publisher.
    public struct Link: Sendable, Hashable {
        /// The https URL.
        public var address: String
        /// The host of the URL.
        public var host: String

        /// Creates a link.
        public init(address: String, host: String) {
            self.address = address
            self.host = host
        }
    }

    /// The display name of the client.
    public var applicationName: DisplayName
    /// The publisher of the client, if known.
    public var publisher: DisplayName?
    /// The initials shown if the client has no logo.
    public var applicationInitials: String
    /// The path of the client's logo.
    public var applicationLogo: String?
    /// Whether an administrator has verified the publisher of the client.
    public var isVouchedFor: Bool
    /// The destination of the response.
    public var redirectDestination: RedirectDestination
    /// The name of the signed-in user.
    public var personName: DisplayName
    /// The masked email address of the user.
    public var personEmail: MaskedEmail?
    /// The path that the form posts to.
    public var action: String
    /// The path that "Use another account" posts to, with `decision=switch`.
    public var switchAccountAction: String
    /// The pending authorization request as a query; the hidden field `request`.
    public var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// The requested permissions, in the order in which they are shown.
    public var permissions: [Permission]
    /// The statement of the service itself, marked as its own words.
    public var siteWords: SafeHTML?
    /// The language tag (BCP 47) of ``siteWords``, if it is not the language of the page.
    public var siteWordsLanguage: String?
    /// The privacy policy of the service.
    public var sitePrivacy: Link?
    /// The statement of the client, marked as its own words.
    public var applicationWords: SafeHTML?
    /// The privacy policy of the publisher.
    public var privacy: Link?
    /// The terms of service of the client.
    public var terms: Link?
    /// The APIs that accept the tokens, each with its host; empty for the service itself.
    public var resources: [DisplayName]
    /// The duration of the access, in one sentence, such as "Until you disconnect it, at most 180 days".
    public var lifetime: String
    /// A sentence about an earlier consent of the user for this client.
    public var earlierConsent: String?
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    public var wayToBrowser: WayToBrowser?

    /// Whether the page has an optional permission.
    public var hasChoice: Bool { permissions.contains { !$0.required } }

    /// Creates the page; the initials are derived from the name unless they are given.
    public init(
        applicationName: DisplayName, publisher: DisplayName? = nil,
        applicationInitials: String? = nil, applicationLogo: String? = nil, isVouchedFor: Bool = true,
        redirectDestination: RedirectDestination,
        personName: DisplayName, personEmail: MaskedEmail?, action: String, switchAccountAction: String,
        request: String, ticket: String, permissions: [Permission], siteWords: SafeHTML? = nil,
        siteWordsLanguage: String? = nil, sitePrivacy: Link? = nil, applicationWords: SafeHTML? = nil,
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
        self.siteWordsLanguage = siteWordsLanguage
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
