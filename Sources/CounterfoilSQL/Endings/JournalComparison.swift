import CounterfoilServer
package import Foundation

/// The result of comparing an endings journal with its store.
package enum JournalComparison: Sendable, Hashable {
    /// The file has every ending of the store.
    case complete
    /// The file lacks a number of endings that the store has, the oldest since a time.
    case lacks(Int, since: Date)
}

extension EndingsJournal {
    /// Returns true if the file at a path is an endings journal with at least one line.
    package static func hasLines(at path: String) -> Bool { (try? JournalFile.lastLine(ofFileAt: path)) != nil }

    /// Reads the last line of the file of a journal; nil if the file is empty.
    package static func lastLine(at path: String) throws(JournalFailure) -> JournalLine? {
        try JournalFile.lastLine(ofFileAt: path)
    }

    /// Compares the file of a journal with a store, and changes neither.
    package static func compare(
        with store: some SQLStore, at path: String
    ) async throws(JournalFailure) -> JournalComparison {
        // The file is read first, so that what is written meanwhile does not seem to be of another store.
        let end = try JournalFile.lastLine(ofFileAt: path)
        let position: EndingsPosition
        let missing: (count: Int64, oldest: Int64?)?
        do {
            (position, missing) = try await store.read {
                database -> (EndingsPosition, (count: Int64, oldest: Int64?)?) in
                let position = try database.endingsPosition()
                guard let number = try position.numberReached(by: end, begin: database.endingsBegin) else {
                    return (position, nil)
                }
                let missing = try database.first("SELECT count(*), min(at) FROM endings WHERE number > ?1", number) {
                    columns in (count: try columns.integer(), oldest: try columns.optionalInteger())
                }
                return (position, missing)
            }
        } catch { throw .store("\(error)") }
        guard !position.isBehind(end) else { throw .aheadOfStore(path: path) }
        guard let missing else { throw .ofAnotherStore(path: path) }
        return missing.oldest.map { .lacks(Int(missing.count), since: Date(microseconds: $0)) } ?? .complete
    }
}

extension EndingsPosition {
    /// Returns true if a journal of this store has an ending that the store lacks, because it was brought back from an
    /// earlier state.
    ///
    /// - Parameter end: The last line of the journal, read before the store; nil if there is none.
    func isBehind(_ end: JournalLine?) -> Bool {
        guard let end, end.identity == identity else { return false }
        return end.number > last
    }

    /// Returns the number up to which a journal with a last line has the endings; nil if it is that of another store.
    ///
    /// - Parameters:
    ///   - end: The last line; nil for an empty file.
    ///   - begin: The number before the first ending that the store still has.
    fileprivate func numberReached(by end: JournalLine?, begin: () throws -> Int64) rethrows -> Int64? {
        switch end {
        case nil: try begin()
        case let end? where end.identity == identity: end.number
        // The next start continues the journal with which the store was restored.
        case let end? where end.identity == former && end.number <= first: first
        default: nil
        }
    }
}
