import CounterfoilResource
import Foundation

/// A tool, as `tools/list` describes it.
struct Tool: Encodable {
    enum Name: String, Encodable {
        case listNotes = "list_notes"
        case addNote = "add_note"
    }

    struct Schema: Encodable {
        struct Property: Encodable {
            let type = "string"
            let description: String
        }

        let type = "object"
        var properties: [String: Property] = [:]
        var required: [String] = []
    }

    let name: Name
    let description: String
    let inputSchema: Schema

    static let all = [
        Tool(name: .listNotes, description: "Lists your notes (scope notes.read).", inputSchema: Schema()),
        Tool(
            name: .addNote, description: "Adds a note (scope notes.write).",
            inputSchema: Schema(properties: ["text": .init(description: "The text of the note.")], required: ["text"])),
    ]
}

/// The notes of all users, in memory only.
actor Notes {
    /// The maximum number of notes of one user.
    static let limit = 100

    /// A text of 1 to 1000 characters, at most 4000 bytes.
    struct Text: Sendable {
        static let limit = 1000
        let text: String

        init?(_ text: String) {
            guard text.utf8.count <= 4 * Self.limit, (1...Self.limit).contains(text.count) else { return nil }
            self.text = text
        }
    }

    private var notes: [VerifiedAccess.User: [String]] = [:]

    /// Returns the notes of a user, oldest first.
    func all(of user: VerifiedAccess.User) -> [String] { notes[user] ?? [] }

    /// Adds a note of a user; returns false if the user already has ``limit`` notes.
    func add(_ note: Text, of user: VerifiedAccess.User) -> Bool {
        guard all(of: user).count < Self.limit else { return false }
        notes[user, default: []].append(note.text)
        return true
    }
}
