package import CounterfoilServer

/// The head of every page for signed-in users: the user, the navigation and the sign-out button.
package struct ConsoleHead: Sendable, Hashable {
    package enum Part: Sendable, Hashable, CaseIterable {
        case clients
        case account
        case administration
    }

    /// The name of the signed-in user.
    package var userDisplayName: DisplayName
    /// Whether the user may submit the forms of the page, which are left out otherwise.
    package var mayChange: Bool = true
    /// Whether the navigation shows My Apps; if false, the user may not register clients.
    package var registersClients: Bool = true
    /// The part of the console that the navigation marks as current; nil if the page belongs to none.
    package var part: Part?
    package var paths: Paths = Paths()
    /// The anti-CSRF token of the sign-out button; the hidden field `ticket`.
    package var signOutTicket: String
    /// The password field of the form on the page; nil if the user has signed in recently enough for it.
    package var confirmation: FormField?

    /// The paths of the parts of the console, and of the sign-out.
    package struct Paths: Sendable, Hashable {
        package var clients: String = "/apps"
        package var account: String = "/account"
        /// The path of the first page of the administration that the user may see; nil if there is none.
        package var administration: String?
        /// The path that the sign-out button posts to.
        package var signOut: String = "/account/sign-out"
    }
}
