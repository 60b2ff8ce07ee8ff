/// The page that asks whether to sign out; it posts `request`, `ticket` and `decision`, which is `sign-out` or
/// `stay`.
///
/// The user is asked unless the client has proved that it means this session (OpenID Connect RP-Initiated Logout §2).
///
/// If a form on another site posted the request, the browser has omitted the session cookie, and the server does not
/// know the user yet. The page then posts the request again automatically, with `decision=ask`, and the browser sends
/// the cookie. A redirect instead would put the ID token of the request into a URL.
package struct SignOutPage: Sendable, Hashable {
    /// The name of the signed-in user; nil if the browser sent no session cookie.
    package var userDisplayName: DisplayName?
    /// The name of the client that sent the request, if known.
    package var clientName: DisplayName?
    /// The path that the form posts to.
    package var action: String
    /// The parameters of the pending logout request, form-encoded; the value of the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page.
    ///
    /// It is the value of the hidden field `ticket`, and empty if ``userDisplayName`` is nil.
    package var ticket: String

    package init(
        userDisplayName: DisplayName?, clientName: DisplayName? = nil, action: String, request: String, ticket: String
    ) {
        self.userDisplayName = userDisplayName
        self.clientName = clientName
        self.action = action
        self.request = request
        self.ticket = ticket
    }
}

/// The page that confirms the sign-out.
package struct SignedOutPage: Sendable, Hashable {
    /// The name of the client that sent the request, if known.
    package var clientName: DisplayName?
    /// The redirect URL of the client; nil if the request has none that is registered.
    package var destination: String?
    /// Whether the page continues to ``destination`` automatically; if not, it has a button.
    package var continuesAutomatically: Bool
    /// The host of the redirect URL, if the client is untrusted and the user must press the button.
    ///
    /// In all other cases it is nil.
    package var host: String?
    /// The path of the sign-in page, to which a button leads if there is no ``destination``.
    package var signInPath: String
    /// The section about a redirect URI to which the server does not redirect; nil if there is none.
    package var developer: ProblemPage.DeveloperSection?

    package init(
        clientName: DisplayName? = nil, destination: String? = nil, continuesAutomatically: Bool = false,
        host: String? = nil, signInPath: String, developer: ProblemPage.DeveloperSection? = nil
    ) {
        self.clientName = clientName
        self.destination = destination
        self.continuesAutomatically = continuesAutomatically
        self.host = host
        self.signInPath = signInPath
        self.developer = developer
    }
}

extension SignOutPage: Page {
    package static let template = "sign-out"

    package var script: PageScript? { userDisplayName == nil ? .proceed : nil }
}

extension SignedOutPage: Page {
    package static let template = "signed-out"

    package var leadsTo: String? { destination }
}
