import HTTPTypes
import NIOHPACK

/// The fields of an HTTP/2 request (RFC 9113 §8.3.1), which were checked.
///
/// The HTTP/2 library has checked the names of all fields, that each pseudo field is there once, and the fields
/// `Connection`, `Proxy-Connection`, `TE` and `Transfer-Encoding` (RFC 9113 §8.2).
struct RequestFields {
    /// The fields; `:authority` contains the host, and there is no field `Host`.
    let fields: HPACKHeaders
    /// The size of the fields in memory (RFC 9113 §6.5.2).
    let size: Int
    /// Whether `Content-Length` is there.
    let statesLength: Bool

    /// Checks the fields of a request; nil if the request is malformed (RFC 9113 §8.1.1), or of a kind that this server
    /// does not support.
    init?(_ received: HPACKHeaders) {
        var (method, path, authority, host): (HTTPRequest.Method?, String?, String?, String?)
        var (size, count, statesLength) = (0, 0, false)
        for (name, value, _) in received {
            let fieldSize = name.utf8.count + value.utf8.count
            size += fieldSize + 32
            count += 1
            guard count <= HeadLimits.fieldCount, fieldSize <= HeadLimits.fieldSize, !name.isEmpty,
                HTTPField.isValidValue(value)
            else { return nil }
            switch name {
            case ":method":
                method = HTTPRequest.Method(value)
                guard let method, method != .connect else { return nil }
            case ":scheme": guard value.lowercased() == "https" else { return nil }
            case ":path":
                guard Self.isVisible(value) else { return nil }
                path = value
            case ":authority": authority = value
            case "host":
                guard host == nil else { return nil }
                host = value
            case "content-length":
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                statesLength = true
            // RFC 9113 §8.2.2
            case "keep-alive", "upgrade": return nil
            default: break
            }
        }
        guard let path, path.utf8.first == UInt8(ascii: "/") || path == "*" && method == .options else { return nil }
        // RFC 9113 §8.3.1: one of the two is there, without user information, and both name one host.
        guard let named = authority ?? host, Authority.isValid(named) else { return nil }
        if let host, host.lowercased() != named.lowercased() { return nil }
        fields = host == nil ? received : Self.move(host, toAuthorityOf: received)
        self.size = size
        self.statesLength = statesLength
    }

    /// Returns whether a part of a URI has visible ASCII characters only, as the parser of HTTP/1.1 requires.
    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Returns fields without `Host`, whose value is that of `:authority`.
    private static func move(_ host: String?, toAuthorityOf received: HPACKHeaders) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(received.count + 1)
        if let host, !received.contains(name: ":authority") { fields.add(name: ":authority", value: host) }
        for (name, value, indexing) in received where name != "host" {
            fields.add(name: name, value: value, indexing: indexing)
        }
        return fields
    }
}

/// The fields of a response that are compressed with the state of the connection (RFC 7541 §2.3.2).
enum ResponseFieldCompression {
    /// The fields that have few values.
    ///
    /// All others stay out of the table of the connection. A client decides on the size of this table, so it could fill
    /// memory, and a secret would stay there after its response.
    private static let repeated: Set<String> = [
        ":status", "cache-control", "content-type", "cross-origin-opener-policy", "permissions-policy", "pragma",
        "referrer-policy", "strict-transport-security", "vary", "x-content-type-options", "x-frame-options",
    ]

    /// Returns the fields of a response with the rule for each.
    static func applied(to fields: HPACKHeaders) -> HPACKHeaders {
        var result = HPACKHeaders()
        result.reserveCapacity(fields.count)
        for (name, value, _) in fields {
            result.add(name: name, value: value, indexing: repeated.contains(name) ? .indexable : .neverIndexed)
        }
        return result
    }
}
