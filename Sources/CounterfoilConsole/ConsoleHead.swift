package import CounterfoilServer

/// The head of every page for somebody who is signed in: who that is, where they are, and the way out.
package struct ConsoleHead: Sendable, Hashable {
    /// The parts of the console.
    package enum Part: Sendable, Hashable, CaseIterable {
        /// My Apps.
        case applications
        /// The account.
        case account
        /// The administration.
        case administration
    }

    /// Who is signed in.
    package var personName: DisplayName
    /// Whether the administration is shown.
    package var isAdministrator: Bool
    /// Whether My Apps is shown; otherwise only administrators register applications.
    package var registersApplications: Bool = true
    /// Where they are; nil where it is none of the parts.
    package var part: Part?
    /// Where the parts lie.
    package var paths: Paths = Paths()
    /// The proof of the sign-out button; the hidden field `ticket`.
    package var signOutTicket: String

    /// The addresses of the parts.
    package struct Paths: Sendable, Hashable {
        /// Of My Apps.
        package var applications: String = "/apps"
        /// Of the account.
        package var account: String = "/account"
        /// Of the administration.
        package var administration: String = "/admin"
        /// To which the sign-out button posts.
        package var signOut: String = "/account/sign-out"
    }
}
