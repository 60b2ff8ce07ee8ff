import CounterfoilServer
import HTTPTypes

/// The identifiers of a request for the log and for traces: those that a trusted proxy has chosen, or a random one.
///
/// Those of all other senders are ignored: a client that could choose them could hide its requests among others.
package enum RequestIdentity {
    /// The field with the identifier of a request, in requests of trusted proxies and in every response.
    static let requestField = HTTPField.Name("X-Request-ID")
    private static let traceField = HTTPField.Name("traceparent")

    /// The maximum length of `traceparent` in bytes; a later version may be longer than version 00, which has 55.
    private static let traceLimit = 256

    /// Returns the value of `X-Request-ID`; nil unless there is one, with 1 to 64 letters, digits and `-._:=+/`.
    static func request(in fields: HTTPFields) -> String? {
        guard let value = only(requestField, in: fields), IncomingRequest.isIdentifier(value) else { return nil }
        return value
    }

    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// Returns a new identifier: 16 letters and digits with 80 random bits, without `i`, `l`, `o` and `u`.
    ///
    /// An error page shows it, and a user can read it out. It is random, so that no one can tell the identifiers of
    /// other requests from it.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let words = [generator.next(), generator.next()]
        return String(unsafeUninitializedCapacity: 16) { buffer in
            for index in 0..<16 {
                let bits = words[index / 8] >> UInt64(index % 8 * 5)
                buffer.initializeElement(at: index, to: alphabet[Int(truncatingIfNeeded: bits & 31)])
            }
            return 16
        }
    }

    /// Returns the parent that `traceparent` names (W3C Trace Context §3.2.2); nil unless there is a valid one.
    static func parent(in fields: HTTPFields) -> TraceParent? {
        guard let value = only(traceField, in: fields) else { return nil }
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff", isHex(parts[1], 32), isHex(parts[2], 16),
            isHex(parts[3], 2), parts.count == 4 || parts[0] != "00", value.utf8.count <= traceLimit
        else { return nil }
        // An identifier of zeros is invalid.
        guard parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }) else { return nil }
        // The lowest bit of the flags says that the sender records the trace (§3.2.2.5).
        let isSampled = (UInt8(parts[3], radix: 16) ?? 0) & 1 == 1
        return TraceParent(traceID: String(parts[1]), spanID: String(parts[2]), isSampled: isSampled)
    }

    private static func only(_ name: HTTPField.Name?, in fields: HTTPFields) -> String? {
        guard let name else { return nil }
        let values = fields[values: name]
        return values.count == 1 ? values[0] : nil
    }

    private static func isHex(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
