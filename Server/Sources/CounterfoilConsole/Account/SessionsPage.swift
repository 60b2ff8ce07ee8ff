package import CounterfoilServer

/// The sessions of a user and the sign-ins of apps; the form posts `decision`, `session` or `sign_in`, and `ticket`.
///
/// `decision` is `end`, to end the session in the field `session`, `end-app`, to end the sign-in of an app in the field
/// `sign_in`, or `end-others`.
package struct SessionsPage: ConsolePage, Hashable {
    package static let template = "sessions"
    /// The maximum number of sign-ins of apps on the page.
    package static let appLimit = 50

    package struct Row: Sendable, Hashable {
        /// The digest of the session token, which identifies the session in the form.
        ///
        /// The digest is no secret and cannot be used as a cookie.
        package var id: String
        /// The browser and the device, in words.
        package var device: String
        /// The source address at sign-in.
        package var source: String?
        package var signedIn: String
        package var lastSeen: String
        /// The day on which the session ends at the latest, if its cookie is persistent; nil for another one.
        package var staysUntil: String?
        /// Whether the row is the session of this browser.
        package var isCurrent: Bool = false
    }

    /// A sign-in of an app on one device.
    package struct AppRow: Sendable, Hashable {
        /// The identifier of the grant, which is no secret.
        package var id: String
        /// The name of the app; that of a client with a document is shown beside ``unregistered``.
        package var name: DisplayName
        /// The name for texts, which contains the host of an unregistered client.
        package var fullName: DisplayName
        /// Nil for a client that a person registered.
        package var unregistered: ConnectedClient.Unregistered?
        /// The initials that replace a missing logo.
        package var initials: String
        package var logo: String?
        /// Whether the app belongs to the service itself.
        package var isFirstParty: Bool
        /// Whether an administrator has verified the publisher.
        package var isVouchedFor: Bool
        /// The name that the app gave the device; nil if it sent none.
        package var deviceName: String?
        /// The browser in which the user approved, or the device that asked, in words.
        package var device: String
        /// The source address of that browser or device.
        package var source: String?
        package var signedIn: String
        package var lastUsed: String
        /// Whether the user approved in the session of this browser, and not for a device that showed a code.
        package var isFromHere: Bool

        package init(
            id: String, name: DisplayName, fullName: DisplayName? = nil,
            unregistered: ConnectedClient.Unregistered? = nil, logo: String? = nil, isFirstParty: Bool = false,
            isVouchedFor: Bool = false, deviceName: String? = nil, device: String, source: String? = nil,
            signedIn: String, lastUsed: String, isFromHere: Bool = false
        ) {
            self.id = id
            self.name = name
            self.fullName = fullName ?? name
            self.unregistered = unregistered
            initials = name.initials
            self.logo = logo
            self.isFirstParty = isFirstParty
            self.isVouchedFor = isVouchedFor
            self.deviceName = deviceName
            self.device = device
            self.source = source
            self.signedIn = signedIn
            self.lastUsed = lastUsed
            self.isFromHere = isFromHere
        }
    }

    /// The sign-ins of apps, as far as the page shows them.
    package struct Apps: Sendable, Hashable {
        /// The most recently used sign-ins first.
        package var rows: [AppRow] = []
        /// Whether there is no sign-in, also none that the page does not show.
        package var isEmpty = true
        /// The number of all sign-ins.
        package var count = "0"
        /// A sentence with the number of all sign-ins; nil if all are shown.
        package var excess: String?
    }

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
    package var paths: AccountPaths
    /// The session of this browser first, then the other sessions, most recently used first.
    package var rows: [Row]
    package var apps: Apps
    /// Whether there are sessions of other browsers, or sign-ins of apps from elsewhere.
    package var hasOthers: Bool
    /// Whether the user is signed in in this browser alone, and in no app.
    package var isOnlyHere: Bool
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String

    package init(
        console: ConsoleHead, notice: String? = nil, paths: AccountPaths = AccountPaths(at: .sessions), rows: [Row],
        apps: Apps = Apps(), action: String, ticket: String
    ) {
        self.console = console
        self.notice = notice
        self.paths = paths
        self.rows = rows
        self.apps = apps
        hasOthers = rows.contains { !$0.isCurrent } || apps.excess != nil || apps.rows.contains { !$0.isFromHere }
        isOnlyHere = apps.isEmpty && rows.allSatisfy(\.isCurrent)
        self.action = action
        self.ticket = ticket
    }
}
