import CounterfoilStore
import Foundation

/// The endings that a journal has and its store lacks.
///
/// A database lacks them after a failover to a standby without the last commits, and any store after it was brought
/// back from an earlier state.
package struct LostEndings: Sendable {
    /// The end of the journal.
    let end: JournalEnd
    /// The last ending that both have; nil if the journal has none that is also in the store.
    let common: Ending?
    /// The number after which the endings of the store are not in the journal.
    let number: Int64
    /// The endings that the store lacks, and has not recorded again since, in their order.
    package let endings: [Ending]
    /// Whether the store can lack others, of which the journal does not know.
    package let canLackOthers: Bool

    /// The number of lines that are compared at once.
    private static let batch = 500

    /// Reads the files of a journal from their end to the last ending that the store has, too.
    ///
    /// - Returns: The endings; nil if the store has the end of the journal.
    static func read(
        ofJournalAt path: String, endingWith end: JournalEnd, from engine: any SQLEngine
    ) async throws(JournalFailure) -> LostEndings? {
        let start: (continuation: Continuation, position: EndingsPosition, begin: Int64)
        do {
            start = try await engine.read { connection in
                (
                    try connection.continuation(of: end, atMost: 1), try connection.endingsPosition(),
                    try connection.endingsBegin()
                )
            }
        } catch { throw .store("\(error)") }
        switch start.continuation {
        case .after: return nil
        case .ofAnotherStore: throw .ofAnotherStore(path: path)
        case .restoredWithout: throw .restoredWithout(path: path)
        case .lacksEnd: break
        }
        var search = Search(position: start.position, begin: start.begin)
        for file in try (JournalFile.former(ofJournalAt: path) + [path]).reversed() {
            guard let bytes = try JournalFile.bytes(ofFileAt: file) else { continue }
            var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
            while !lines.isEmpty, !search.isComplete {
                var batch: [JournalLine] = []
                for line in lines.suffix(Self.batch).reversed() {
                    guard let line = JournalLine(Data(line)) else { throw .notAJournal(path: file) }
                    batch.append(line)
                }
                lines = lines.dropLast(Self.batch)
                let numbers = batch.map(\.number)
                guard let first = numbers.min(), let last = numbers.max() else { break }
                let stored: [Ending]
                do {
                    stored = try await engine.read { try $0.endings(after: first - 1, through: last) }
                } catch { throw .store("\(error)") }
                search.compare(batch, with: stored)
            }
            if search.isComplete { break }
        }
        return try await search.result(endingWith: end, from: engine)
    }

    /// The comparison, from the end of the journal on.
    private struct Search {
        let position: EndingsPosition
        /// The number before the first ending that the store still has.
        let begin: Int64
        /// The endings that the store lacks, the last one first.
        var lost: [Ending] = []
        var common: Ending?
        /// The number at which the journal begins, as far as it was read.
        var origin = Int64.max
        var isComplete = false
        /// The number before the earliest ending that was read, which the lines before must reach.
        var continued = Int64.min
        /// Whether lines are missing within the journal.
        var hasGap = false

        /// Compares lines, the last one first, with the endings of the store that have their numbers.
        mutating func compare(_ lines: [JournalLine], with stored: [Ending]) {
            let stored = Dictionary(stored.map { ($0.number, $0) }) { first, _ in first }
            for line in lines {
                // What is before belongs to the sequence of the store before its last restore.
                guard line.identity == position.identity else { return isComplete = true }
                if line.number < continued { hasGap = true }
                continued = if case .ending = line { line.number - 1 } else { line.number }
                switch line {
                case .mark(let mark): origin = min(origin, mark.number)
                case .ending(let ending, _):
                    // The store deletes old endings, so it may have had this one.
                    guard ending.number > begin else {
                        origin = min(origin, ending.number)
                        return isComplete = true
                    }
                    if let found = stored[ending.number], found.isSame(as: ending) {
                        common = ending
                        return isComplete = true
                    }
                    origin = min(origin, ending.number - 1)
                    lost.append(ending)
                }
            }
        }

        /// Leaves out what the store has ended again since, as another server has done it.
        func result(endingWith end: JournalEnd, from engine: any SQLEngine) async throws(JournalFailure) -> LostEndings
        {
            struct Key: Hashable {
                let kind: String
                let subject: String
                let detail: String?

                init(_ ending: Ending) { (kind, subject, detail) = (ending.kind, ending.subject, ending.detail) }
            }
            let number = common?.number ?? begin
            let later: [Ending]
            do { later = try await engine.read { try $0.endings(after: number) } } catch { throw .store("\(error)") }
            let again = Set(later.map(Key.init))
            var seen: Set<Ending> = []
            return LostEndings(
                end: end, common: common, number: number,
                endings: lost.reversed().filter { seen.insert($0).inserted && !again.contains(Key($0)) },
                canLackOthers: hasGap || common == nil && origin > position.last)
        }
    }
}
