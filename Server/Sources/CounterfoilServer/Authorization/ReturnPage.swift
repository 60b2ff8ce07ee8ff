/// The page that returns the user to the client with the authorization response.
///
/// The page continues automatically, and has a button in case that fails. If the server refuses a request of an
/// untrusted client, the page continues only when the user presses the button (RFC 9700 §4.11.2).
///
/// The page is used for `form_post`, and after each form of the authorization pages. A redirect is not possible
/// after a form, because Chromium applies the CSP directive `form-action` to the redirect and would block it.
package struct ReturnPage: Sendable, Hashable {
    /// The outcome of the request, which the page tells the user.
    package enum Kind: Sendable, Hashable {
        /// The response contains a code for the requested access, which the client can redeem for some seconds.
        case allowed(codeLifetime: Int)
        case denied
        /// The server refused the request for a reason other than a denial by the user.
        case refused
    }

    package var clientName: DisplayName
    /// The initials shown if the client has no logo.
    package var clientInitials: String
    /// The path of the client's logo; nil if it has none.
    package var clientLogo: String?
    /// The URL to go to: the redirect URI, with the authorization response in it unless ``fields`` hold the
    /// response.
    package var destination: String
    /// The authorization response as form fields for the destination (OAuth 2.0 Form Post Response Mode §2);
    /// empty if the response is in the URL.
    package var fields: [Field]
    package var kind: Kind
    /// The host of the redirect URI, if the user must press the button; nil if the page continues automatically.
    package var host: String?

    package var continuesAutomatically: Bool { host == nil }

    /// A hidden field of the form.
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(
        clientName: DisplayName, clientLogo: String? = nil, destination: String, fields: [Field] = [],
        kind: Kind, host: String? = nil
    ) {
        self.clientName = clientName
        clientInitials = clientName.initials
        self.clientLogo = clientLogo
        self.destination = destination
        self.fields = fields
        self.kind = kind
        self.host = host
    }
}

extension ReturnPage: Page {
    package static let template = "go-on"

    package var script: PageScript? { continuesAutomatically && !fields.isEmpty ? .proceed : nil }
    package var leadsTo: String? { destination }
    package var postsToClient: Bool { !fields.isEmpty }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        var time: String?
        if case .allowed(let seconds) = kind { time = Localizer(frame.language)(.duration(seconds: seconds)) }
        return [
            "time": time, "denied": kind == .denied, "refused": kind == .refused, "posts": !fields.isEmpty,
        ]
    }
}
