import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

struct UserExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export everything that the server stores about a user, as JSON.",
        discussion: """
            The export contains the account with its profile, groups and attributes, sessions, grants, consents, apps and \
            audit events. It \
            contains no password hash, no secret and no token. A record that this version cannot read is named in the \
            member "unreadable" and in a warning.

            Example:
              counterfoil-server user export alice --output alice.json --data-dir ./data
            """
    )

    @OptionGroup var argument: UserArgument

    @Option(
        name: .long,
        help: ArgumentHelp("The new file to write; it must not exist. - is standard output.", valueName: "file"))
    var output: String

    @OptionGroup var location: InstallationOption

    func run() async throws {
        try await location.withInstallation(creating: false) { installation in
            let user = try await installation.account(argument.name)
            let unreadable = try await installation.store.unreadableRecords(of: user.id)
            for record in unreadable { Output.note("warning: not exported: \(UnreadableDocument(record).line)") }
            let file = try ExportFile(at: output == "-" ? nil : output, onFailure: "nothing else was changed")
            do {
                try await installation.writeRecords(of: user.id, named: user.username, unreadable, to: file.write)
                // A deletion in the meantime has left the rest of the export empty.
                guard try await installation.store.userID(named: user.username) == user.id else {
                    throw CommandFailure.refused(
                        "the user \(user.username) was deleted during the export, which is incomplete")
                }
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
            if output != "-" { Output.note("Exported the user \(user.username) to \(output).") }
        }
    }
}

extension Installation {
    /// The number of records of an export that are in memory at a time.
    private static let exportPage = 200

    /// Writes everything that the store has about a user as one JSON object, page by page.
    ///
    /// - Parameters:
    ///   - id: The user.
    ///   - username: The name of the user.
    ///   - unreadable: The records that this version cannot read, which the object names.
    ///   - write: Writes bytes of the object.
    func writeRecords(
        of id: UserIdentifier, named username: Username, _ unreadable: [UnreadableRecord],
        to write: @escaping (Data) throws -> Void
    ) async throws {
        let store = store
        var json = JSONPages(write)
        try json.open()
        try json.member("exported_at", Moment.text(store.now()))
        let overview = try await StoreFault.readable { () async throws(StoreFault) in
            try await store.userOverview(id)
        }
        if let overview {
            try json.member("account", UserDocument(overview, try await store.attributes(of: id)))
        }
        try json.member("sessions", try await store.sessions(of: id).map(UserSessionDocument.init))
        try json.member("passkeys", try await store.passkeys(of: id).map(UserPasskeyDocument.init))
        let keys = try await store.securityKeys(of: id)
        if let factor = UserSecondFactorDocument(try await store.secondFactor(of: id), securityKeys: keys) {
            try json.member("second_factor", factor)
        }
        try await json.array("grants") { (last: Grant?) in
            let page = try await store.grants(of: id, after: last, limit: Self.exportPage)
            return (page.map(UserGrantDocument.init), page.last?.grant)
        }
        try await json.array("consents") { (last: ClientIdentifier?) in
            let page = try await store.consents(of: id, after: last, limit: Self.exportPage)
            return (page.map(UserConsentDocument.init), page.last?.client.id)
        }
        try json.member("apps", try await store.clients(of: id).map { ClientRecord($0) })
        let managed = try await store.clientIdentifiers(managedBy: id)
        if !managed.isEmpty { try json.member("managed_apps", managed.map(\.rawValue)) }
        try await json.array("audit") { (last: AuditPosition?) in
            let page = try await store.audit(AuditQuery(userID: id, before: last, limit: Self.exportPage))
            let names = [id: username.rawValue]
            return (page.map { AuditDocument($0, names: names) }, page.last?.position)
        }
        if !unreadable.isEmpty { try json.member("unreadable", unreadable.map(UnreadableDocument.init)) }
        try json.close()
    }
}

/// A writer of one JSON object, whose arrays are written page by page.
private struct JSONPages {
    private let write: (Data) throws -> Void
    private let encoder: JSONEncoder
    private var isFirst = true

    init(_ write: @escaping (Data) throws -> Void) {
        self.write = write
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    func open() throws { try write(Data("{\n".utf8)) }

    func close() throws { try write(Data("\n}\n".utf8)) }

    mutating func member(_ name: String, _ value: some Encodable) throws {
        try begin(name)
        try write(try encoder.encode(value))
    }

    /// Writes an array with one element a line.
    ///
    /// - Parameters:
    ///   - name: The name of the member.
    ///   - read: Reads the page after a cursor, with the cursor of its last element; a page without a cursor is empty.
    mutating func array<Element: Encodable, Cursor>(
        _ name: String, read: (Cursor?) async throws -> (page: [Element], last: Cursor?)
    ) async throws {
        try begin(name)
        try write(Data("[".utf8))
        var separator = "\n"
        var (page, last) = try await read(nil)
        while let cursor = last {
            var bytes = Data()
            for element in page {
                bytes += Data(separator.utf8)
                bytes += try encoder.encode(element)
                separator = ",\n"
            }
            try write(bytes)
            (page, last) = try await read(cursor)
        }
        try write(Data("]".utf8))
    }

    private mutating func begin(_ name: String) throws {
        try write(Data("\(isFirst ? "" : ",\n")\"\(name)\":".utf8))
        isFirst = false
    }
}
