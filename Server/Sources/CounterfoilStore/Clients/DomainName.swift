/// The syntax of domain names (RFC 1123 §2.1): in hosts, and reversed in private-use schemes.
package enum DomainName {
    /// Returns a host name in lower case and without the trailing dot of the root.
    package static func canonical(_ host: String) -> String {
        // Most names are canonical already.
        guard host.utf8.last == UInt8(ascii: ".") || host.utf8.contains(where: { $0.isCapital || $0 >= 0x80 }) else {
            return host
        }
        let lowered = host.lowercased()
        return lowered.hasSuffix(".") ? String(lowered.dropLast()) : lowered
    }

    /// Returns true if every label has 1 to 63 letters, digits, hyphens and underscores, and the name at
    /// most 253 bytes.
    package static func isValid(_ name: String) -> Bool {
        guard name.utf8.count <= 253 else { return false }
        var length = 0
        for byte in name.utf8 {
            if byte == UInt8(ascii: ".") {
                guard length > 0 else { return false }
                length = 0
            } else {
                length += 1
                guard byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"), length <= 63
                else { return false }
            }
        }
        return length > 0
    }

    /// Returns true if browsers treat a host as an IPv4 address, because its last label is a decimal or
    /// hexadecimal number.
    package static func isNumeric(_ host: String) -> Bool {
        let last = host.utf8.lastIndex(of: UInt8(ascii: ".")).map { host[host.utf8.index(after: $0)...] } ?? host[...]
        if last.hasPrefix("0x") { return last.dropFirst(2).allSatisfy(\.isHexDigit) }
        return !last.isEmpty && last.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Returns true if a scheme is a reversed domain name: a top-level domain and at least one more label.
    package static func isReversed(_ scheme: String) -> Bool {
        let labels = labels(scheme)
        guard labels.count >= 2, let top = labels.first, top.utf8.count >= 2, scheme.utf8.count <= 253 else {
            return false
        }
        guard top.hasPrefix("xn--") || top.utf8.allSatisfy(\.isLetter) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
    }

    /// Returns true if a scheme looks like a domain name that was not reversed: `example.com` instead of
    /// `com.example`.
    ///
    /// Such a scheme ends with a common top-level domain and does not begin with one.
    package static func perhapsNotReversed(_ scheme: String) -> Bool {
        let common: Set<Substring> = ["com", "edu", "gov", "info", "io", "net", "org"]
        let labels = labels(scheme)
        guard labels.count >= 2, let first = labels.first, let last = labels.last else { return false }
        return common.contains(last) && !common.contains(first) && first.utf8.count > 3
    }

    private static func labels(_ name: String) -> [Substring] {
        name.split(separator: ".", omittingEmptySubsequences: false)
    }
}

extension UInt8 {
    fileprivate var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    fileprivate var isLetter: Bool { isCapital || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
