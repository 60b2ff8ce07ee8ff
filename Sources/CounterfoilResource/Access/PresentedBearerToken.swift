package import CounterfoilProtocol
package import HTTPTypes

/// The unverified access token of a request.
///
/// Only the `Authorization` field is read (RFC 6750 §2.1). A token in the query is ignored (§2.3), and one
/// in the body is not accepted (§2.2).
package enum PresentedBearerToken: Sendable, Hashable {
    /// The request has no `Authorization` field, or one of another scheme.
    case absent
    /// The request has exactly one token.
    case bearer(AccessToken)

    /// The reason why the credentials of a request are rejected.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The request has more than one `Authorization` field.
        case repeatedField
        /// The scheme is Bearer but is not followed by one space and one token.
        case malformed
        /// The request has a token in the header and another one in the form body (RFC 6750 §2).
        case twoMethods
        /// The content type is that of a form, but the body is not a valid form.
        case malformedForm

        /// An explanation with a remedy, safe to show to users.
        package var description: String {
            switch self {
            case .repeatedField: "send exactly one Authorization header"
            case .malformed: "the Authorization header must be the word Bearer, one space and one access token"
            case .twoMethods: "send the access token in the Authorization header only, not in the body as well"
            case .malformedForm: "the body is not correctly encoded as application/x-www-form-urlencoded"
            }
        }
    }

    /// Reads the token from the header of a request.
    package init(in request: HTTPRequest) throws(Refusal) {
        let fields = request.headerFields[values: .authorization]
        // RFC 9110 §5.3: `Authorization` is not a list, so it must occur only once.
        guard fields.count <= 1 else { throw .repeatedField }
        self = try fields.first.map(Self.read) ?? .absent
    }

    /// Reads the token from the header of a request whose body has been collected.
    ///
    /// RFC 6750 §2: a token in the header is rejected if the form body also contains an `access_token`.
    package init(in request: HTTPRequest, body: some Collection<UInt8>) throws(Refusal) {
        try self.init(in: request)
        guard case .bearer = self, Self.mayBeInBody(of: request) else { return }
        let form: FormParameters
        do {
            form = try FormParameters(parsing: Array(body), byteLimit: max(body.count, FormParameters.defaultByteLimit))
        } catch {
            throw .malformedForm
        }
        guard !form.pairs.contains(where: { $0.name == "access_token" }) else { throw .twoMethods }
    }

    /// Returns true if the body of a request is a form, the only type that may contain a token (RFC 6750 §2.2).
    package static func mayBeInBody(of request: HTTPRequest) -> Bool {
        let type = request.headerFields[.contentType]?.prefix { $0 != ";" } ?? ""
        return type.filter { $0 != " " && $0 != "\t" }.lowercased() == "application/x-www-form-urlencoded"
    }

    /// Parses an `Authorization` field: `"Bearer" 1SP b64token` (RFC 6750 §2.1).
    ///
    /// The scheme is case-insensitive (RFC 9110 §11.4); any other scheme returns `.absent`.
    private static func read(_ field: String) throws(Refusal) -> PresentedBearerToken {
        let bytes = Array(field.utf8)
        let scheme = bytes.prefix(while: isTokenCharacter)
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "bearer" else { return .absent }
        let rest = bytes.dropFirst(scheme.count)
        guard rest.first == UInt8(ascii: " "), isBase64Token(rest.dropFirst()),
            let token = AccessToken(String(decoding: rest.dropFirst(), as: UTF8.self))
        else { throw .malformed }
        return .bearer(token)
    }

    /// `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 6750 §2.1).
    private static func isBase64Token(_ bytes: ArraySlice<UInt8>) -> Bool {
        let padding = UInt8(ascii: "=")
        let body = bytes.prefix { $0 != padding }
        return !body.isEmpty && body.allSatisfy { isLetterOrDigit($0) || base64TokenMarks.contains($0) }
            && bytes.dropFirst(body.count).allSatisfy { $0 == padding }
    }

    /// `tchar` (RFC 9110 §5.6.2).
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || tokenMarks.contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }

    private static let base64TokenMarks = Array("-._~+/".utf8)
    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)
}
