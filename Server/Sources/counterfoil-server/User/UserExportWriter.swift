import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// A writer of the export of a user as one JSON object, from pages.
struct UserExportWriter {
    /// The lists that several pages can have, in the order of the pages.
    private static let lists = ["grants", "consents", "audit_events"]

    private let write: (Data) throws -> Void
    private var isFirst = true
    /// The list that the last page has ended with; nil before the first list.
    private var open: String?
    private var isEmpty = true

    init(_ write: @escaping (Data) throws -> Void) { self.write = write }

    /// Writes a page: the members that only the first page has, and the beginning or more of each list.
    mutating func append(_ page: AdministrationRecord) throws {
        if isFirst { try write(Data("{\n".utf8)) }
        for (name, value) in page.members.sorted(by: { $0.key < $1.key }) where !Self.lists.contains(name) {
            if name == "next" { continue }
            try begin(name)
            try write(try Output.encoded(value))
        }
        for name in Self.lists {
            guard case .array(let elements)? = page.members[name] else { continue }
            if open != name {
                try close()
                try begin(name)
                try write(Data("[".utf8))
                (open, isEmpty) = (name, true)
            }
            for element in elements {
                try write(Data((isEmpty ? "\n" : ",\n").utf8) + (try Output.encoded(element)))
                isEmpty = false
            }
        }
    }

    /// Ends the object.
    mutating func finish() throws {
        try close()
        try write(Data("\n}\n".utf8))
    }

    private mutating func begin(_ name: String) throws {
        try write(Data("\(isFirst ? "" : ",\n")\"\(name)\":".utf8))
        isFirst = false
    }

    private mutating func close() throws {
        if open != nil { try write(Data("]".utf8)) }
        open = nil
    }
}
