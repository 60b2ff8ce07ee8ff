import CounterfoilProtocol
import HTTPTypes

/// The header fields that every answer carries.
///
/// Nothing may frame a page (RFC 9700 §4.16), nothing foreign may load, no address leaks as a referrer (RFC 9700 §4.2.4).
struct ResponseFields: Sendable {
    private let fields: HTTPFields

    init(issuer: Issuer) {
        var fields = HTTPFields()
        let policy = [
            "default-src 'none'", "style-src 'self'", "img-src 'self' data:", "form-action 'self'", "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        fields[.contentSecurityPolicy] = policy.joined(separator: "; ")
        fields[.xContentTypeOptions] = "nosniff"
        let others = [
            ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        if issuer.isSecure { fields[.strictTransportSecurity] = "max-age=63072000" }
        self.fields = fields
    }

    func add(to response: inout HTTPFields) {
        for field in fields where response[field.name] == nil { response.append(field) }
    }
}
