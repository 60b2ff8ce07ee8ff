import CounterfoilSQL
public import CounterfoilStore
public import Foundation

/// A text that a running server keeps in the database for the other servers on it.
public struct ServerNote: Sendable, Hashable {
    /// The random name of the process of the server.
    public let server: String
    /// The text, which contains no secret.
    public let text: String

    /// Creates a note of a server.
    public init(server: String, text: String) {
        self.server = server
        self.text = text
    }
}

extension PostgreSQLStore {
    /// The time in seconds after which a note that was not written again is one of a server that is gone.
    package static let noteLifetime: TimeInterval = 90

    /// Writes the note of a server, deletes those of servers that are gone, and returns those of the other servers.
    ///
    /// - Parameters:
    ///   - note: The note, which replaces the former one of the same server.
    ///   - name: The name of a noted setting that the same commit rewrites.
    ///   - now: The current time.
    ///   - rewrite: Returns the new text of the setting for the stored one, which is nil if there is none. It can run
    ///     several times.
    public func exchangeNotes(
        _ note: ServerNote, rewriting name: String, at now: Date,
        by rewrite: @escaping @Sendable (_ text: String?) -> String
    ) async throws(StoreFault) -> [ServerNote] {
        try await database.engine.commit { connection in
            let stored = try connection.serverNotes()
            for one in stored where !one.isCurrent(at: now) {
                try connection.send("DELETE FROM noted_settings WHERE name = ?", StoredNote.name(of: one.note.server))
            }
            try connection.note("\(now.microseconds)\n\(note.text)", as: StoredNote.name(of: note.server))
            try connection.rewrite(name, by: rewrite)
            return stored.filter { $0.isCurrent(at: now) && $0.note.server != note.server }.map(\.note)
        }
    }

    /// Rewrites a noted setting in one commit; see ``exchangeNotes(_:rewriting:at:by:)``.
    public func note(
        rewriting name: String, by rewrite: @escaping @Sendable (_ text: String?) -> String
    ) async throws(StoreFault) {
        try await database.engine.commit { connection in try connection.rewrite(name, by: rewrite) }
    }

    /// Reads the notes of the servers that run at a time.
    public func serverNotes(at now: Date) async throws(StoreFault) -> [ServerNote] {
        try await database.engine.read { connection in
            try connection.serverNotes().filter { $0.isCurrent(at: now) }.map(\.note)
        }
    }

    /// Deletes the note of a server that stops.
    public func removeNote(of server: String) async throws(StoreFault) {
        try await database.engine.commit { connection in
            try connection.send("DELETE FROM noted_settings WHERE name = ?", StoredNote.name(of: server))
        }
    }
}

/// A note in the table of noted settings: its text has a line with the time of the note before it.
private struct StoredNote {
    let note: ServerNote
    let writtenAt: Date

    static let prefix = "server/"

    static func name(of server: String) -> String { prefix + server }

    /// Reads a row; a text without a time is from no time at which a server could run.
    init(name: String, text: String) {
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        note = ServerNote(server: String(name.dropFirst(Self.prefix.count)), text: parts.count > 1 ? "\(parts[1])" : "")
        writtenAt = Date(microseconds: parts.first.flatMap { Int64($0) } ?? 0)
    }

    /// Returns true if the server that wrote the note runs at a time.
    ///
    /// A note from a later time is from before the clock was set back.
    func isCurrent(at now: Date) -> Bool {
        abs(now.timeIntervalSince(writtenAt)) <= PostgreSQLStore.noteLifetime
    }
}

extension SQLConnection {
    fileprivate func serverNotes() throws -> [StoredNote] {
        // The character after the slash ends the range of the names.
        try all("SELECT name, text FROM noted_settings WHERE name > 'server/' AND name < 'server0' ORDER BY name") {
            columns in
            StoredNote(name: try columns.text(), text: try columns.text())
        }
    }

    fileprivate func rewrite(_ name: String, by rewrite: (_ text: String?) -> String) throws {
        let text = try first("SELECT text FROM noted_settings WHERE name = ?", name) { columns in try columns.text() }
        let rewritten = rewrite(text)
        if rewritten != text { try note(rewritten, as: name) }
    }

    /// Stores a text in the table of noted settings by its name.
    func note(_ text: String, as name: String) throws {
        try send(
            """
            INSERT INTO noted_settings (name, text) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET text = excluded.text
            """, name, text)
    }
}
