/// The consent page; it posts `decision`, `request` and `ticket`.
///
/// `decision` is `allow`, `deny` or `switch`. `switch` ends the session, so that the user can sign in with another
/// account. An optional permission is a field `permission.SCOPE` with the value `granted`, which is
/// absent if the user deselects it. The user cannot deselect one in ``allowedBefore``, so its field is hidden.
package struct ConsentPage: Sendable, Hashable {
    /// One requested scope, as the page shows it to the user.
    package struct Permission: Sendable, Hashable {
        /// The scope token of the permission.
        package var scope: String
        /// The description of the permission, such as "See your photos and albums".
        package var title: String
        /// The limits or the meaning of the permission, in one sentence.
        package var detail: String?
        /// Whether the client requires the permission; if it does not, the user may deselect the permission.
        package var required: Bool
        /// The initial state of the check box, if the permission is optional.
        package var isTicked: Bool
        /// Whether the user has an earlier consent for this client that does not include the permission.
        package var isNew: Bool

        package init(
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

    /// A link to a page of the service or of the client's publisher.
    package struct Link: Sendable, Hashable {
        /// The https URL.
        package var address: String
        package var host: String

        package init(address: String, host: String) {
            self.address = address
            self.host = host
        }
    }

    /// The statements of the page about a client that no person registered.
    package struct UnregisteredClient: Sendable, Hashable {
        /// The host of the client's document; nil if the client registered itself.
        package var host: ShownHost?
        /// The name that the client gives itself; nil if it gives itself none but its host.
        package var name: DisplayName?
        /// When the client was first seen, and how many people use it, in one or two sentences.
        package var use: String
        /// Whether the response goes to a loopback address, at which every program on the device can receive it.
        package var isOnDevice: Bool

        package init(host: ShownHost?, name: DisplayName?, use: String, isOnDevice: Bool = false) {
            self.host = host
            self.name = name
            self.use = use
            self.isOnDevice = isOnDevice
        }
    }

    /// The name of the client; for an unregistered client its host, or its name with the host of the redirect URI.
    package var clientName: DisplayName
    /// The statements about an unregistered client; nil for a client that a person registered.
    package var unregisteredClient: UnregisteredClient?
    /// The publisher of the client, if known.
    package var publisher: DisplayName?
    /// The initials shown if the client has no logo.
    package var clientInitials: String
    /// The path of the client's logo; nil if it has none.
    package var clientLogo: String?
    /// Whether the client is trusted: an administrator has verified its publisher, or it belongs to the owner
    /// of this server.
    package var isVouchedFor: Bool
    /// Whether only the developer of the client and the users whom the developer names can sign in.
    package var isInDevelopment: Bool
    package var redirectDestination: RedirectDestination
    package var userDisplayName: DisplayName
    package var userEmail: MaskedEmail?
    /// The path that the form posts to.
    package var action: String
    /// The path that "Use another account" posts to, with `decision=switch`.
    package var switchAccountAction: String
    /// The pending authorization request as a query; the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The permissions that the user is asked about, in the order in which they are shown.
    package var permissions: [Permission]
    /// The requested permissions that the user allowed earlier, if the request adds others to them; the page lists them
    /// without asking again.
    package var allowedBefore: [Permission]
    /// The text of the operator of this service, which the page marks as such.
    package var siteWords: SafeHTML?
    /// The language tag (BCP 47) of ``siteWords``, if it is not the language of the page.
    package var siteWordsLanguage: String?
    /// The privacy policy of the service.
    package var sitePrivacy: Link?
    /// The text of the developer of the client, which the page marks as such.
    package var clientText: SafeHTML?
    /// The privacy policy of the publisher.
    package var privacy: Link?
    /// The terms of service of the client.
    package var terms: Link?
    /// The APIs that accept the tokens, with their hosts; empty if only this service accepts them.
    package var resources: [DisplayName]
    /// The duration of the access, in one sentence, such as "Until you disconnect it, at most 180 days".
    package var lifetime: String
    /// A sentence about an earlier consent of the user for this client; nil if there is none.
    package var earlierConsent: String?
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?

    /// Whether the user can deselect at least one permission.
    package var hasChoice: Bool { permissions.contains { !$0.required } }

    /// Creates the page; if `clientInitials` is nil, the initials are derived from the name.
    package init(
        clientName: DisplayName, unregisteredClient: UnregisteredClient? = nil, publisher: DisplayName? = nil,
        clientInitials: String? = nil, clientLogo: String? = nil, isVouchedFor: Bool = true,
        isInDevelopment: Bool = false, redirectDestination: RedirectDestination,
        userDisplayName: DisplayName, userEmail: MaskedEmail?, action: String, switchAccountAction: String,
        request: String, ticket: String, permissions: [Permission], allowedBefore: [Permission] = [],
        siteWords: SafeHTML? = nil, siteWordsLanguage: String? = nil, sitePrivacy: Link? = nil,
        clientText: SafeHTML? = nil,
        privacy: Link? = nil, terms: Link? = nil, resources: [DisplayName] = [], lifetime: String,
        earlierConsent: String? = nil, openInBrowserLink: OpenInBrowserLink? = nil
    ) {
        self.clientName = clientName
        self.unregisteredClient = unregisteredClient
        self.publisher = publisher
        self.clientInitials = clientInitials ?? clientName.initials
        self.clientLogo = clientLogo
        self.isVouchedFor = isVouchedFor
        self.isInDevelopment = isInDevelopment
        self.redirectDestination = redirectDestination
        self.userDisplayName = userDisplayName
        self.userEmail = userEmail
        self.action = action
        self.switchAccountAction = switchAccountAction
        self.request = request
        self.ticket = ticket
        self.permissions = permissions
        self.allowedBefore = allowedBefore
        self.siteWords = siteWords
        self.siteWordsLanguage = siteWordsLanguage
        self.sitePrivacy = sitePrivacy
        self.clientText = clientText
        self.privacy = privacy
        self.terms = terms
        self.resources = resources
        self.lifetime = lifetime
        self.earlierConsent = earlierConsent
        self.openInBrowserLink = openInBrowserLink
    }
}

extension ConsentPage: Page {
    package static let template = "consent"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "destination": DestinationValues(redirectDestination), "hasChoice": hasChoice,
            "addsToEarlier": !allowedBefore.isEmpty,
        ]
    }
}
