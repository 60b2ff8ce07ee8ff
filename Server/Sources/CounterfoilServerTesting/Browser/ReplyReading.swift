package import CounterfoilConsole
@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilServer
import Foundation
import HTTPTypes

/// The error when a reply is not the one that the test needs.
public struct UnexpectedReply: Error, CustomStringConvertible {
    /// A sentence with the expected and the received reply, without secrets.
    public let description: String

    init(needed: String, reply: Reply) {
        let content =
            switch reply.content {
            case .none: "no body"
            case .json(let bytes): "JSON of \(bytes.count) bytes"
            case .problem(let bytes): "the problem \(String(decoding: bytes, as: UTF8.self))"
            case .scim(let bytes): "SCIM of \(bytes.count) bytes"
            case .signed: "a signed answer"
            case .image: "an image"
            case .file(_, let type): "a file of the type \(type)"
            case .page(let page as ProblemPage): "the page \"\(page.title)\": \(page.explanation)"
            case .page(let page as SignInPage): "the sign-in page" + (page.problem.map { " with \"\($0)\"" } ?? "")
            case .page(let page): "the page \(type(of: page).template)"
            }
        description = "needed \(needed), but got \(reply.status.code) with \(content)"
    }
}

/// Each property for a page throws if the reply has another page or no page.
extension Reply {
    package var signInPage: SignInPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? SignInPage else {
                throw UnexpectedReply(needed: "the sign-in page", reply: self)
            }
            return page
        }
    }

    package var consentPage: ConsentPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ConsentPage else {
                throw UnexpectedReply(needed: "the consent page", reply: self)
            }
            return page
        }
    }

    /// The page of this reply with the authorization response, which continues to the client.
    package var goOnPage: ReturnPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ReturnPage else {
                throw UnexpectedReply(needed: "the page that continues to the client", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that asks whether to sign out.
    package var signOutPage: SignOutPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? SignOutPage else {
                throw UnexpectedReply(needed: "the question whether to sign out", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that says that the user is signed out.
    package var signedOutPage: SignedOutPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? SignedOutPage else {
                throw UnexpectedReply(needed: "the page after a sign-out", reply: self)
            }
            return page
        }
    }

    /// The page of this reply on which the user types the code of a device.
    package var deviceCodePage: DeviceCodePage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? DeviceCodePage else {
                throw UnexpectedReply(needed: "the form for the code of a device", reply: self)
            }
            return page
        }
    }

    /// The page of this reply with the result after the user has answered a device.
    package var deviceDonePage: DeviceDonePage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? DeviceDonePage else {
                throw UnexpectedReply(needed: "the result for a device", reply: self)
            }
            return page
        }
    }

    /// The page of this reply on which the user confirms a sign-in.
    package var continuePage: ContinuePage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ContinuePage else {
                throw UnexpectedReply(needed: "the page that confirms a sign-in", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that tells the user to leave the web view for the browser.
    package var webViewPage: WebViewPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? WebViewPage else {
                throw UnexpectedReply(needed: "the page for a web view", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that explains an error to the user.
    package var problemPage: ProblemPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ProblemPage else {
                throw UnexpectedReply(needed: "a problem page", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that lists the connected apps.
    package var accountPage: AccountPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? AccountPage else {
                throw UnexpectedReply(needed: "the connected applications", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that shows one connected app.
    package var connectedClientPage: ConnectedClientPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ConnectedClientPage else {
                throw UnexpectedReply(needed: "the page of a connected app", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that lists the sessions.
    package var sessionsPage: SessionsPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? SessionsPage else {
                throw UnexpectedReply(needed: "the sessions", reply: self)
            }
            return page
        }
    }

    /// The page of this reply on which the user changes the password.
    package var passwordPage: PasswordPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? PasswordPage else {
                throw UnexpectedReply(needed: "the page for a new password", reply: self)
            }
            return page
        }
    }

    /// The page of this reply that lists the sign-ins and the changes of the account.
    package var activityPage: ActivityPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? ActivityPage else {
                throw UnexpectedReply(needed: "the activity", reply: self)
            }
            return page
        }
    }

    /// The page of this reply on which the user verifies the email address.
    package var emailPage: EmailPage {
        get throws(UnexpectedReply) {
            guard let page = self.page as? EmailPage else {
                throw UnexpectedReply(needed: "the page of the email address", reply: self)
            }
            return page
        }
    }

    /// The value of the `Location` header field; nil if the reply has none.
    public var location: String? { fields[.location] }

    /// The URL of the authorization response, from a redirect or from the page that continues to the client.
    ///
    /// If the page posts the response as a form (`form_post`), the form fields are appended to the URL as a query.
    public var destination: String {
        get throws(UnexpectedReply) {
            if let page = self.page as? ReturnPage {
                guard !page.fields.isEmpty else { return page.destination }
                let form = FormParameters(page.fields.map { FormParameters.Pair(name: $0.name, value: $0.value) })
                return page.destination + (page.destination.contains("?") ? "&" : "?") + form.encoded
            }
            guard let location else { throw UnexpectedReply(needed: "the way to the application", reply: self) }
            return location
        }
    }

    /// The authorization response in the query of ``destination`` (RFC 6749 §4.1.2).
    public var authorizationResponse: AuthorizationResponse {
        get throws { try AuthorizationResponse(parsing: FormParameters(parsing: destinationQuery)) }
    }

    /// The authorization code of the authorization response; throws if the response contains an error.
    public var code: AuthorizationCode {
        get throws {
            guard case .code(let code) = try authorizationResponse.outcome else {
                throw UnexpectedReply(needed: "a code", reply: self)
            }
            return code
        }
    }

    /// The error of the authorization response; throws if the response contains a code.
    public var redirectedError: OAuthError {
        get throws {
            guard case .error(let error) = try authorizationResponse.outcome else {
                throw UnexpectedReply(needed: "an error response", reply: self)
            }
            return error
        }
    }

    /// The bytes of the JSON body; throws if the body has another type.
    public var json: [UInt8] {
        get throws(UnexpectedReply) {
            switch content {
            case .json(let bytes), .problem(let bytes), .scim(let bytes): return bytes
            case .none, .signed, .page, .image, .file: throw UnexpectedReply(needed: "JSON", reply: self)
            }
        }
    }

    /// The body as a successful token response (RFC 6749 §5.1); throws if the status is not 200.
    public var tokenResponse: TokenResponse {
        get throws {
            guard status == .ok else { throw UnexpectedReply(needed: "tokens", reply: self) }
            return try TokenResponse(parsing: try json)
        }
    }

    /// The body as an error response of the token endpoint (RFC 6749 §5.2); throws if the status is 200.
    public var tokenError: TokenErrorResponse {
        get throws {
            guard status != .ok else { throw UnexpectedReply(needed: "a refusal", reply: self) }
            return try JSONDecoder().decode(TokenErrorResponse.self, from: Data(try json))
        }
    }

    /// The values of the `Set-Cookie` header fields of this reply, including cookie attributes.
    public var cookies: [String] {
        HTTPField.Name("Set-Cookie").map { fields[values: $0] } ?? []
    }

    private var destinationQuery: String {
        get throws(UnexpectedReply) {
            let url = try destination
            guard let mark = url.firstIndex(of: "?") else { return "" }
            return String(url[url.index(after: mark)...])
        }
    }
}
