@_spi(Counterfoil) package import CounterfoilProtocol
package import HTTPTypes

/// The unverified access token of a request.
///
/// The token is read only from the `Authorization` field (RFC 6750 §2.1, RFC 9449 §7.1). A token in the query is
/// ignored (§2.3). A token in a form body is never used (§2.2).
package enum PresentedToken: Sendable, Hashable {
    /// The request has no `Authorization` field, or the field has a scheme other than Bearer and DPoP.
    case absent
    /// A token with the scheme Bearer.
    case bearer(AccessToken)
    /// A token with the scheme DPoP, which requires a proof of its key.
    case dpop(AccessToken)

    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The request has more than one `Authorization` field.
        case repeatedField
        /// The scheme is Bearer or DPoP but is not followed by spaces and one token.
        case malformed
        /// The request has a token in the `Authorization` field and another one in the form body (RFC 6750 §2).
        case twoMethods
        /// The content type is `application/x-www-form-urlencoded`, but the body is not a valid form.
        case malformedForm

        /// An explanation with a remedy, safe to show to users.
        package var description: String {
            switch self {
            case .repeatedField: "send exactly one Authorization header"
            case .malformed: "the Authorization header must be the word Bearer or DPoP, a space and one access token"
            case .twoMethods: "send the access token in the Authorization header only, not in the body as well"
            case .malformedForm: "the body is not correctly encoded as application/x-www-form-urlencoded"
            }
        }
    }

    /// Reads the token from the header of a request, without a check of the body.
    package init(in request: HTTPRequest) throws(Refusal) {
        let fields = request.headerFields[values: .authorization]
        // RFC 9110 §5.3: `Authorization` is not a list, so it must occur only once.
        guard fields.count <= 1 else { throw .repeatedField }
        self = try fields.first.map(Self.read) ?? .absent
    }

    /// Reads the token from the header of a request, and checks the collected body for a second token.
    ///
    /// RFC 6750 §2: a request with a token in the header is rejected if its form body also contains an `access_token`.
    package init(in request: HTTPRequest, body: some Collection<UInt8>) throws(Refusal) {
        try self.init(in: request)
        guard self != .absent, Self.mayBeInBody(of: request) else { return }
        let form: FormParameters
        do {
            form = try FormParameters(parsing: Array(body), byteLimit: max(body.count, FormParameters.defaultByteLimit))
        } catch {
            throw .malformedForm
        }
        guard !form.pairs.contains(where: { $0.name == "access_token" }) else { throw .twoMethods }
    }

    /// Returns true if the scheme of the `Authorization` field is DPoP, even if no token follows it.
    package static func usesProofScheme(_ request: HTTPRequest) -> Bool {
        request.headerFields[values: .authorization].contains { AuthorizationField($0).scheme == "dpop" }
    }

    /// Returns true if the body of a request is a form, the only type that may contain a token (RFC 6750 §2.2).
    package static func mayBeInBody(of request: HTTPRequest) -> Bool {
        let type = request.headerFields[.contentType]?.prefix { $0 != ";" } ?? ""
        return type.filter { $0 != " " && $0 != "\t" }.lowercased() == "application/x-www-form-urlencoded"
    }

    /// Parses an `Authorization` field: `"Bearer" 1*SP b64token` (RFC 6750 §2.1), or `"DPoP" 1*SP token68`, which is
    /// the same form (RFC 9449 §7.1).
    ///
    /// For any other scheme, the function returns `.absent`.
    private static func read(_ text: String) throws(Refusal) -> PresentedToken {
        let field = AuthorizationField(text)
        let presented: (AccessToken) -> PresentedToken
        switch field.scheme {
        case "bearer": presented = PresentedToken.bearer
        case "dpop": presented = PresentedToken.dpop
        default: return .absent
        }
        guard let text = field.credentials, isBase64Token(Array(text.utf8)[...]), let token = AccessToken(text) else {
            throw .malformed
        }
        return presented(token)
    }

    /// Returns true if the bytes are a `b64token` (RFC 6750 §2.1):
    /// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`.
    private static func isBase64Token(_ bytes: ArraySlice<UInt8>) -> Bool {
        let padding = UInt8(ascii: "=")
        let body = bytes.prefix { $0 != padding }
        return !body.isEmpty && body.allSatisfy { $0.isLetterOrDigit || base64TokenMarks.contains($0) }
            && bytes.dropFirst(body.count).allSatisfy { $0 == padding }
    }

    private static let base64TokenMarks = Array("-._~+/".utf8)
}
