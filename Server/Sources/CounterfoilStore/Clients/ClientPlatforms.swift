import CounterfoilProtocol

/// An app for Apple platforms, identified by team and bundle, such as `ABCDE12345.com.example.app`.
public struct AppleApp: Sendable, Hashable, CustomStringConvertible {
    /// The application identifier: the team prefix, a period and the bundle identifier.
    public let rawValue: String

    /// Parses an application identifier; nil unless it is ten capital letters or digits, a period, and a bundle
    /// identifier.
    public init?(_ text: String) {
        let team = text.prefix { $0 != "." }
        guard team.utf8.count == 10, team.utf8.allSatisfy(\.isCapitalOrDigit), text.utf8.count <= 180,
            let bundle = PackageName(String(text.dropFirst(team.count + 1)), allowing: .bundle)
        else { return nil }
        rawValue = "\(team).\(bundle.rawValue)"
    }

    /// The bundle identifier, `com.example.app`.
    public var bundleID: String { String(rawValue.dropFirst(11)) }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// An app for Android, identified by package and signing certificate, such as `com.example.app:14:6D:E9:…`.
public struct AndroidApp: Sendable, Hashable, CustomStringConvertible {
    /// The package name, `com.example.app`.
    public let packageName: String
    /// The SHA-256 fingerprint of the signing certificate: 32 pairs of capital hexadecimal digits, separated by
    /// colons.
    public let fingerprint: String

    /// Parses a package name, a colon and a fingerprint; nil if malformed.
    ///
    /// The fingerprint may be in lower case, and it may omit the colons between its digits.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"),
            let package = PackageName(String(text[..<colon]), allowing: .package)
        else { return nil }
        let digits = text[text.index(after: colon)...].uppercased().filter { $0 != ":" }
        guard digits.utf8.count == 64, digits.utf8.allSatisfy(\.isCapitalHexadecimal) else { return nil }
        packageName = package.rawValue
        let bytes = Array(digits)
        fingerprint = stride(from: 0, to: 64, by: 2).map { String(bytes[$0...$0 + 1]) }.joined(separator: ":")
    }

    /// The package name, a colon and the fingerprint.
    public var description: String { "\(packageName):\(fingerprint)" }
}

/// A bundle identifier or package name: two or more labels separated by periods.
private struct PackageName {
    enum Alphabet {
        /// Letters, digits and hyphens (Apple).
        case bundle
        /// Letters, digits and underscores, beginning with a letter (Android).
        case package
    }

    let rawValue: String

    init?(_ text: String, allowing alphabet: Alphabet) {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, text.utf8.count <= 160,
            labels.allSatisfy({ label in
                guard let first = label.utf8.first else { return false }
                return label.utf8.allSatisfy { byte in
                    byte.isLetterOrDigit || byte == UInt8(ascii: alphabet == .bundle ? "-" : "_")
                } && (alphabet == .bundle || first.isLetter)
            })
        else { return nil }
        rawValue = text
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }
    fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isCapitalOrDigit: Bool {
        isLetterOrDigit && !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }
    fileprivate var isCapitalHexadecimal: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }
}
