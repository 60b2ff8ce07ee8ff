import CounterfoilStore
package import Foundation

/// The result of comparing an endings journal with its store.
package enum JournalComparison: Sendable, Hashable {
    /// The file has every ending of the store.
    case complete
    /// The file lacks a number of endings that the store has, the oldest since a time.
    case lacks(Int, since: Date)
}

extension EndingsJournal {
    /// Returns true if the journal at a path has at least one line, also in a former file.
    package static func hasLines(at path: String) throws(JournalFailure) -> Bool {
        try JournalEnd.read(ofJournalAt: path) != nil
    }

    /// Reads the last line of one file of a journal; nil if it has none.
    package static func lastLine(ofFileAt path: String) throws(JournalFailure) -> JournalLine? {
        let lines = try lines(ofFileAt: path)
        for line in [lines.first, lines.last] {
            if let line, JournalLine(line) == nil { throw .notAJournal(path: path) }
        }
        return lines.last.flatMap { JournalLine($0) }
    }

    /// Reads the marks in one file with which a sequence continues another one after a restore.
    package static func origins(inFileAt path: String) throws(JournalFailure) -> [JournalLine.Mark] {
        let name = Data("\"former\":".utf8)
        return try lines(ofFileAt: path).filter { $0.range(of: name) != nil }.compactMap { line in
            if case .mark(let mark) = JournalLine(line), mark.former != nil { mark } else { nil }
        }
    }

    private static func lines(ofFileAt path: String) throws(JournalFailure) -> [Data] {
        guard let bytes = try JournalFile.bytes(ofFileAt: path) else {
            throw .failed(path: path, reason: "it does not exist")
        }
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    }

    /// Compares the journal at a path with a store, and changes neither.
    package static func compare(
        with store: some SQLStore, at path: String
    ) async throws(JournalFailure) -> JournalComparison {
        // The file is read first, so that what is written meanwhile does not seem to be of another store.
        let end = try JournalEnd.read(ofJournalAt: path)
        let found: (continuation: Continuation, missing: (count: Int64, oldest: Int64?)?)
        do {
            found = try await store.read { connection in
                let continuation = try connection.continuation(of: end, atMost: 1)
                guard case .after(let number, _, _) = continuation else { return (continuation, nil) }
                let missing = try connection.first(
                    "SELECT count(*), min(at) FROM endings WHERE number > ?1", number
                ) { columns in (count: try columns.integer(), oldest: try columns.optionalInteger()) }
                return (continuation, missing)
            }
        } catch { throw .store("\(error)") }
        switch found.continuation {
        case .lacksEnd: throw .aheadOfStore(path: path)
        case .ofAnotherStore: throw .ofAnotherStore(path: path)
        case .restoredWithout: throw .restoredWithout(path: path)
        case .after: break
        }
        guard let missing = found.missing, let oldest = missing.oldest else { return .complete }
        return .lacks(Int(missing.count), since: Date(microseconds: oldest))
    }
}
