/// A QR code (ISO/IEC 18004): a square of dark and light modules that contains a text.
///
///     let code = try QRCode("https://id.example.com/device?user_code=BDWP-HQPK")
///     for line in code.halfBlocks(.blackOnWhite) { print(line) }
///
/// The library libqrencode encodes the text. It is loaded when the first code is created, so programs run without it.
@_spi(Counterfoil) public struct QRCode: Sendable, Hashable {
    /// The number of light modules that must surround the code on each side (ISO/IEC 18004 §9.1).
    public static let quietZone = 4

    /// The number of modules in a row and in a column, without the quiet zone: 21 to 177.
    public let width: Int
    /// The rows from top to bottom, each from left to right; true is dark.
    private let modules: [Bool]

    /// The share of a code that can be damaged or covered without loss.
    ///
    /// A higher level makes a larger code.
    public enum ErrorCorrection: Int32, Sendable, CaseIterable {
        /// Level L: about 7 %.
        case low
        /// Level M: about 15 %.
        case medium
        /// Level Q: about 25 %.
        case quartile
        /// Level H: about 30 %.
        case high

        /// The maximum length of a text in bytes, which is the capacity of the largest code (version 40).
        public var maximumLength: Int {
            switch self {
            case .low: 2953
            case .medium: 2331
            case .quartile: 1663
            case .high: 1273
            }
        }
    }

    /// The reason why a text cannot be encoded.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The system has no libqrencode that can be loaded.
        case libraryMissing
        /// The text is empty.
        case empty
        /// The text has more bytes than the largest code can contain.
        case tooLong(limit: Int)
        /// The library returned no code, or one that is none of the standard's sizes.
        case notEncoded

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .libraryMissing:
                "libqrencode is not installed (Debian and Ubuntu: libqrencode4, Fedora: qrencode-libs, Homebrew: qrencode)"
            case .empty: "the text is empty"
            case .tooLong(let limit): "the text is longer than the \(limit) bytes that a QR code can contain"
            case .notEncoded: "libqrencode failed to encode the text"
            }
        }
    }

    /// Encodes a text in the smallest code that can contain it.
    ///
    /// All readers agree on ASCII only. Other characters are encoded as UTF-8, and some readers guess another encoding.
    public init(_ text: String, correction: ErrorCorrection = .medium) throws(Failure) {
        try self.init(text, correction: correction, libraryNames: QREncodeLibrary.names)
    }

    /// Encodes a text with the first library of a list that can be loaded.
    package init(_ text: String, correction: ErrorCorrection, libraryNames: [String]) throws(Failure) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= correction.maximumLength else { throw .tooLong(limit: correction.maximumLength) }
        guard let library = QREncodeLibrary(anyOf: libraryNames) else { throw .libraryMissing }
        guard let encoded = library.encode(bytes, correction) else { throw .notEncoded }
        (width, modules) = encoded
    }

    /// Returns whether a module is dark; every place outside the code is light, as the quiet zone must be.
    public func isDark(row: Int, column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
    }
}
