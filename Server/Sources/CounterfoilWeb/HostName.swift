@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// Validation and resolution of host names.
enum HostName {
    /// Returns whether a text is a lowercase host name with at least two labels, and not an IP address in any notation.
    ///
    /// RFC 1123 §2.1: labels consist of letters, digits and hyphens. The last label must start with a letter,
    /// which rules out everything that a resolver reads as a number (`127.1`, `0x7f000001`).
    static func isUsable(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.count >= 2, let top = labels.last?.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(top)
        else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                }
        }
    }

    /// Resolves a name to its distinct addresses, in the order in which to try them (RFC 6724 §6).
    ///
    /// The call blocks the thread until DNS answers.
    static func addresses(of name: String) -> [[UInt8]] {
        var hints = addrinfo()
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            guard let raw = UnsafeRawPointer(entry.ai_addr) else { continue }
            let address: [UInt8]
            switch entry.ai_family {
            case AF_INET: address = withUnsafeBytes(of: raw.load(as: sockaddr_in.self).sin_addr, Array.init)
            case AF_INET6: address = withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr, Array.init)
            default: continue
            }
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}

/// A continuation that is resumed with the first value passed to `give`; later values are ignored.
final class FirstAnswer<Value: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) {
        waiting = Mutex(continuation)
    }

    func give(_ value: Value) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: value)
    }
}
