@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes

/// A form with text fields and files, sent as `multipart/form-data` (RFC 7578, RFC 2046 §5.1.1).
///
/// The parser accepts only what browsers send for the forms of this server. It rejects nested parts, transfer
/// encodings that change the content, a preamble and an epilogue.
package struct MultipartForm: Sendable {
    /// An uploaded file; the file name that the browser sent is discarded.
    struct File: Sendable, Hashable {
        let field: String
        let bytes: [UInt8]
    }

    package enum Refusal: Error, Hashable, CustomStringConvertible {
        case otherContentType
        case badBoundary
        case tooLong(limit: Int)
        case tooManyParts(limit: Int)
        case badStructure
        case partFieldsTooLong(limit: Int)
        case badPartField
        case badTransferEncoding
        case badText(String)
        case repeated(String)

        /// An explanation in English, safe to show to users.
        package var description: String {
            switch self {
            case .otherContentType: "the body must be multipart/form-data"
            case .badBoundary: "the content type states no valid boundary"
            case .tooLong(let limit): "the form is longer than \(limit) bytes"
            case .tooManyParts(let limit): "the form has more than \(limit) parts"
            case .badStructure: "the parts of the form are not correctly separated"
            case .partFieldsTooLong(let limit): "the head of a part is longer than \(limit) bytes"
            case .badPartField: "the head of a part cannot be read"
            case .badTransferEncoding: "a part has a Content-Transfer-Encoding that forms do not use"
            case .badText(let name): "the field \(name) is not UTF-8"
            case .repeated(let name): "the file \(name) is given more than once"
            }
        }
    }

    /// The maximum number of parts, which are text fields and files.
    static let partLimit = 20
    /// The maximum size of the header fields of one part, in bytes.
    static let partFieldsLimit = 1024

    /// The text fields in the order in which they were sent.
    private(set) var fields = FormParameters()
    /// The files in the order in which they were sent.
    private(set) var files: [File] = []

    /// Parses the body of a request; throws if the body is larger than `byteLimit` or is not a valid form.
    init(_ request: IncomingRequest, byteLimit: Int) throws(Refusal) {
        let types = request.head.headerFields[values: .contentType]
        guard types.count == 1, let type = ParameterizedValue(parsing: Array(types[0].utf8)),
            type.value == "multipart/form-data"
        else { throw .otherContentType }
        guard let boundary = type.parameters["boundary"], Self.isBoundary(boundary) else { throw .badBoundary }
        guard request.body.count <= byteLimit else { throw .tooLong(limit: byteLimit) }
        var reader = MultipartReader(request.body, boundary: boundary)
        guard reader.takeFirstDelimiter() else { throw .badStructure }
        var count = 0
        while reader.hasPart {
            count += 1
            guard count <= Self.partLimit else { throw .tooManyParts(limit: Self.partLimit) }
            guard let part = reader.takePart() else { throw .badStructure }
            try read(part)
        }
        guard reader.isAtEnd else { throw .badStructure }
    }

    /// Returns the content of the file in a form field; throws if the field occurs more than once.
    ///
    /// Returns nil for an empty file, which browsers send if the user chose no file.
    func file(_ name: String) throws(Refusal) -> [UInt8]? {
        let found = files.filter { $0.field == name }
        guard found.count <= 1 else { throw .repeated(name) }
        return found.first.flatMap { $0.bytes.isEmpty ? nil : $0.bytes }
    }

    private mutating func read(_ part: ArraySlice<UInt8>) throws(Refusal) {
        let (head, content) = try PartHead.split(part)
        if head.isFile {
            files.append(File(field: head.name, bytes: Array(content)))
        } else {
            guard let text = String(validUTF8: content) else { throw .badText(head.name) }
            fields.append(head.name, text)
        }
    }

    /// Returns true if a text is a valid boundary: `0*69<bchars> bcharsnospace` (RFC 2046 §5.1.1).
    private static func isBoundary(_ text: [UInt8]) -> Bool {
        (1...70).contains(text.count) && text.last != UInt8(ascii: " ")
            && text.allSatisfy { $0.isASCIILetterOrDigit || "'()+_,-./:=? ".utf8.contains($0) }
    }
}

/// The name and the kind of a part, from the header fields of the part.
private struct PartHead {
    /// The name of the form field: `name` of `Content-Disposition`.
    let name: String
    /// Whether the part has a file name, which distinguishes files from text fields.
    let isFile: Bool

    /// Splits a part into its header fields and its content at the first empty line.
    static func split(_ part: ArraySlice<UInt8>) throws(MultipartForm.Refusal) -> (PartHead, ArraySlice<UInt8>) {
        var fields: [String: ArraySlice<UInt8>] = [:]
        var rest = part
        while true {
            let line = rest.prefix { $0 != 0x0D }
            guard rest.dropFirst(line.count).starts(with: [0x0D, 0x0A]) else { throw .badPartField }
            rest = rest.dropFirst(line.count + 2)
            guard part.count - rest.count <= MultipartForm.partFieldsLimit else {
                throw .partFieldsTooLong(limit: MultipartForm.partFieldsLimit)
            }
            guard !line.isEmpty else { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }),
                line[..<colon].allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") })
            else { throw .badPartField }
            let field = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            guard fields.updateValue(line[line.index(after: colon)...], forKey: field) == nil else {
                throw .badPartField
            }
        }
        return (try PartHead(fields), rest)
    }

    private init(_ fields: [String: ArraySlice<UInt8>]) throws(MultipartForm.Refusal) {
        // RFC 7578 §4.2: every part has a Content-Disposition of form-data with a name.
        guard let disposition = fields["content-disposition"].flatMap({ ParameterizedValue(parsing: Array($0)) }),
            disposition.value == "form-data",
            let name = disposition.parameters["name"].flatMap({ String(validUTF8: $0) }), !name.isEmpty
        else { throw .badPartField }
        self.name = name
        isFile = disposition.parameters["filename"] != nil || disposition.parameters["filename*"] != nil
        // RFC 7578 §4.7: only the three transfer encodings that do not change the content are accepted.
        if let encoding = fields["content-transfer-encoding"] {
            let word = ParameterizedValue(parsing: Array(encoding))?.value
            guard word == "binary" || word == "8bit" || word == "7bit" else { throw .badTransferEncoding }
        }
        if let field = fields["content-type"] {
            // RFC 7578 §4.3: nested multipart parts are deprecated.
            guard let type = ParameterizedValue(parsing: Array(field)), !type.value.hasPrefix("multipart/") else {
                throw .badPartField
            }
            let charset = type.parameters["charset"].map { String(decoding: $0, as: UTF8.self).lowercased() }
            guard isFile || charset == nil || charset == "utf-8" else { throw .badText(name) }
        }
    }
}
