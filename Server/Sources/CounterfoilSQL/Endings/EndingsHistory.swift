import CounterfoilStore
import Foundation

/// The endings of one or several journal files that a copy lacks, without a gap.
///
/// A database that lost its last commits uses their numbers again, so the files can have several endings with a number.
/// Each of them was confirmed, so the history has all of them, except for those that the copy has ended again: what was
/// set since, such as a password, would end.
package struct EndingsHistory: Sendable, Hashable {
    /// The endings that the copy lacks, in their order.
    package let endings: [Ending]
    /// The number of the first endings that are surely of the database of the copy, and not of another branch.
    package let ownCount: Int
    /// The sequence in which the journal ends, and the number of its last ending.
    package let end: EndingsPosition
    /// The time up to which the journal knows every ending, in microseconds since 1970.
    ///
    /// It is before the second of a line that was cut off.
    package let knownUntil: Int64
    /// The files whose last line was cut off.
    ///
    /// The server confirms nothing before its line is complete, so in its own file the line was confirmed to no one. A
    /// copy of the file can lack the end of a line that was.
    package let cutFiles: [String]

    /// Reads files in any order.
    ///
    /// - Parameters:
    ///   - paths: The paths of the files.
    ///   - position: The position of the store that is restored.
    ///   - known: The endings that the store knows and still has, in their order.
    ///   - snapshot: The time of the copy in microseconds, if the server noted it in its journal then.
    package init(
        ofFilesAt paths: [String], after position: EndingsPosition, knowing known: [Ending] = [],
        copiedAt snapshot: Int64?
    ) throws(EndingsRefusal) {
        var sequences: [String: Sequence] = [:]
        var cut: [String] = []
        var before = Before()
        for path in paths.sorted(by: Before.precedes) {
            before.enter(path)
            try Self.read(path, into: &sequences, before: &before, cut: &cut)
        }
        cutFiles = cut
        var identity = position.identity
        let former = position.former.flatMap { sequences[$0] }
        let missed = try former?.endings(missedBy: sequences[identity], from: position.first) ?? []
        guard let sequence = sequences[identity] else {
            guard let former else { throw .ofAnotherServer(paths) }
            let reached = former.last ?? 0
            if reached >= position.first, missed.isEmpty { throw .complete }
            guard reached >= position.first, position.last == position.first else {
                throw .older(through: reached, copy: position.last)
            }
            if let snapshot, former.at / 1000 < snapshot / 1000 {
                throw .endsBefore(until: former.at, copy: snapshot)
            }
            // The server has not written to the journal since the restore.
            (endings, ownCount, knownUntil) = (missed, 0, former.knownUntil)
            end = EndingsPosition(identity: position.former ?? identity, last: reached)
            return
        }
        try sequence.checkReach(position, knowing: known.last)
        var branch = Branch(
            begin: known.first.map { $0.number - 1 } ?? position.last, last: position.last,
            endings: Dictionary(known.map { ($0.number, $0) }) { first, _ in first })
        var (number, endings, until, knownUntil) = (position.last, [Ending](), Int64(0), Int64(0))
        ownCount = Self.ownCount(of: try sequence.endings(after: branch), after: position.last)
        while let sequence = sequences.removeValue(forKey: identity) {
            endings += try sequence.endings(after: branch)
            number = max(branch.last, sequence.last ?? 0)
            until = max(until, sequence.at)
            knownUntil = max(knownUntil, sequence.knownUntil)
            // A later sequence continues this one where the store was restored.
            let followers = sequences.filter { $0.value.former == identity }
            // The numbers of two stores from one copy say nothing about each other.
            guard followers.count < 2 else { throw .severalRestores }
            guard let next = followers.first else { break }
            guard number >= next.value.first else { throw .gap(from: number + 1, through: next.value.first) }
            identity = next.key
            branch = Branch(begin: next.value.first, last: next.value.first)
        }
        // The times in a journal are in milliseconds.
        if let snapshot, until / 1000 < snapshot / 1000 { throw .endsBefore(until: until, copy: snapshot) }
        self.endings = endings + missed
        end = EndingsPosition(identity: identity, last: number)
        self.knownUntil = knownUntil
    }

    /// Returns the number of endings before the first one with a number that another branch has, too.
    private static func ownCount(of endings: [Ending], after last: Int64) -> Int {
        let numbers = endings.map(\.number)
        return numbers.indices.first { index in
            numbers[index] <= last || index + 1 < numbers.count && numbers[index + 1] == numbers[index]
        } ?? numbers.count
    }

    /// The endings that a journal has before a line, by their sequences.
    private struct Before {
        private var journal: String?
        var endings: [String: Set<Ending>] = [:]

        /// Begins with a file, which continues the journal if it is one of its files.
        mutating func enter(_ path: String) {
            let next = Self.sortKey(of: path).journal
            if next != journal { endings = [:] }
            journal = next
        }

        /// Returns true if a file is before another one, as the former files of a journal are before its current one.
        static func precedes(_ path: String, _ other: String) -> Bool { sortKey(of: path) < sortKey(of: other) }

        private static func sortKey(of path: String) -> (journal: String, number: Int64) {
            guard let number = JournalFiles.number(ofFormerFileAt: path), path.hasSuffix(".\(number)") else {
                return (path, .max)
            }
            return (String(path.dropLast("\(number)".count + 1)), number)
        }
    }

    /// The endings of a sequence that a store knows.
    private struct Branch {
        /// The number before the first ending that the store still has.
        let begin: Int64
        let last: Int64
        var endings: [Int64: Ending] = [:]

        func has(_ ending: Ending) -> Bool {
            ending.number <= begin || endings[ending.number]?.isSame(as: ending) == true
        }
    }

    /// The lines of one sequence.
    private struct Sequence {
        var endings: Set<Ending> = []
        /// The endings that a file has directly after the previous number.
        var continued: Set<Ending> = []
        /// The other endings, each of which must be in another file, too, or continue what the copy knows.
        var starts: [Ending] = []
        /// The endings that a store has, or has ended again, if it has a certain one.
        var settlements: [(last: Ending, endings: Set<Ending>)] = []
        var former: String?
        /// The endings of the former sequence that the restore has ended again.
        var inherited: Set<Ending> = []
        /// The number at which a continued sequence began.
        var first: Int64 = 0
        var last: Int64?
        var at: Int64 = 0
        var knownUntil: Int64 = 0

        /// Adds a line.
        ///
        /// - Parameters:
        ///   - line: The line.
        ///   - isContinued: Whether it is an ending, and the file has the previous number directly before it.
        ///   - limit: The latest time up to which the file knows every ending.
        mutating func add(_ line: JournalLine, isContinued: Bool, knownUntil limit: Int64) {
            switch line {
            case .ending(let ending, _):
                endings.insert(ending)
                if isContinued { continued.insert(ending) } else { starts.append(ending) }
            case .mark(let mark):
                if let former = mark.former { (self.former, first) = (former, mark.number) }
            }
            last = max(last ?? 0, line.number)
            at = max(at, line.at)
            knownUntil = max(knownUntil, min(line.at, limit))
        }

        /// Checks that the files do not end before the copy, and have the last ending that it knows.
        func checkReach(_ position: EndingsPosition, knowing last: Ending?) throws(EndingsRefusal) {
            guard let reached = self.last, reached >= position.last else {
                throw .older(through: self.last ?? 0, copy: position.last)
            }
            guard let last, last.number == position.last else { return }
            // Without an ending from before, the files begin after the copy.
            let earlier = endings.filter { $0.number <= last.number }
            guard earlier.isEmpty || earlier.contains(where: { $0.isSame(as: last) }) else {
                throw .lacksEnd(number: last.number, at: last.at)
            }
        }

        /// Returns the endings that a store lacks, in their order.
        func endings(after branch: Branch) throws(EndingsRefusal) -> [Ending] {
            let numbers = Set(endings.map(\.number))
            func gap(before number: Int64) -> EndingsRefusal {
                let from = max(branch.last, numbers.filter { $0 < number }.max() ?? 0) + 1
                return .gap(from: min(from, number - 1), through: number - 1)
            }
            let settled = self.settled(in: branch)
            func lacks(_ ending: Ending) -> Bool { !branch.has(ending) && !settled.contains(ending) }
            for start in starts.sorted(by: { $0.number < $1.number }) where lacks(start) {
                let isNext = start.number - 1 <= branch.begin || start.number - 1 == branch.last
                guard isNext || continued.contains(start) else { throw gap(before: start.number) }
            }
            // A mark can have the number of an ending that is in no file.
            let reached = max(branch.last, numbers.max() ?? 0)
            if let last, last > reached { throw .gap(from: reached + 1, through: last) }
            return endings.filter(lacks).sorted { ($0.number, $0.at) < ($1.number, $1.at) }
        }

        /// Returns the endings that a restore lacked, because the journal of another server was not named.
        ///
        /// - Parameters:
        ///   - next: The sequence of the restored store, which continues this one; nil if no file has it.
        ///   - first: The number at which it continues.
        func endings(missedBy next: Sequence?, from first: Int64) throws(EndingsRefusal) -> [Ending] {
            let branch = Branch(begin: first, last: first)
            let (inherited, settled) = (next?.inherited ?? [], settled(in: branch))
            let numbers = Set(inherited.map(\.number))
            // The files can have a lost ending with a number of one that the restore had.
            let others = endings.filter { ending in
                ending.number <= first && numbers.contains(ending.number) && !inherited.contains(ending)
                    && !settled.contains(ending)
            }
            return others.sorted { ($0.number, $0.at) < ($1.number, $1.at) } + (try endings(after: branch))
        }

        private func settled(in branch: Branch) -> Set<Ending> {
            settlements.filter { branch.has($0.last) }.reduce(into: []) { $0.formUnion($1.endings) }
        }
    }

    private static func read(
        _ path: String, into sequences: inout [String: Sequence], before: inout Before, cut: inout [String]
    ) throws(EndingsRefusal) {
        let bytes: Data
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw .directory(path)
        }
        do { bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe) } catch {
            throw .unreadable(path)
        }
        guard !bytes.isEmpty else { throw .empty(path) }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // After the end of the last line, there is nothing.
        let rest = lines.popLast() ?? Data()
        guard let end = lines.last else { throw .notAJournal(path, line: 1) }
        var limit = Int64.max
        if !rest.isEmpty {
            cut.append(path)
            limit = secondBefore(JournalLine.time(ofCut: rest) ?? JournalLine(Data(end))?.at ?? 0)
        }
        var previous: (identity: String, ending: Ending)?
        for (index, bytes) in lines.enumerated() {
            guard let line = JournalLine(Data(bytes)) else { throw .notAJournal(path, line: index + 1) }
            var isContinued = false
            switch line {
            case .ending(let ending, let identity):
                guard Ending.Kind(name: ending.kind) != nil else { throw .unknownKind(path, kind: ending.kind) }
                if let previous {
                    isContinued = (previous.identity, previous.ending.number) == (identity, ending.number - 1)
                }
                previous = (identity, ending)
                before.endings[identity, default: []].insert(ending)
            case .mark(let mark):
                if let former = mark.former {
                    sequences[mark.identity, default: Sequence()].inherited.formUnion(before.endings[former] ?? [])
                }
                let isNext = previous?.identity == mark.identity && previous?.ending.number == mark.number
                if mark.isSettled, isNext, let last = previous?.ending {
                    let endings = before.endings[mark.identity] ?? []
                    sequences[mark.identity, default: Sequence()].settlements.append((last: last, endings: endings))
                }
            }
            sequences[line.identity, default: Sequence()].add(line, isContinued: isContinued, knownUntil: limit)
        }
    }

    /// Returns the last whole second before the one of a time.
    ///
    /// The time of an ending can have whole seconds only, so another one of the same second can be missing.
    private static func secondBefore(_ time: Int64) -> Int64 { (time / 1_000_000 - 1) * 1_000_000 }
}

/// An error because of which an endings journal does not tell what has ended since a copy.
package enum EndingsRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case unreadable(String)
    case directory(String)
    case empty(String)
    /// A line is not one of an endings journal, or has a newer format.
    case notAJournal(String, line: Int)
    /// A line has a kind of ending that only a newer version knows.
    case unknownKind(String, kind: String)
    /// No line is of the store of the copy.
    case ofAnotherServer([String])
    /// The journal ends before the copy, by its numbers.
    case older(through: Int64, copy: Int64)
    /// The journal does not have the last ending that the copy knows, but another one with its number.
    case lacksEnd(number: Int64, at: Int64)
    /// The journal ends before the copy, by its times.
    case endsBefore(until: Int64, copy: Int64)
    /// The files are of several stores that were restored from one.
    case severalRestores
    /// The store was restored with these files already.
    case complete
    /// Endings are missing.
    case gap(from: Int64, through: Int64)

    package var description: String {
        switch self {
        case .unreadable(let path): "cannot read the endings journal \(path); check its name and permissions"
        case .directory(let path): "the endings journal \(path) is a directory; \(Self.choice)"
        case .empty(let path):
            "the endings journal \(path) is empty; if it is a copy, fetch the whole file; otherwise name only the other "
                + "files of the journal, or use --end-sign-ins"
        case .notAJournal(let path, let line):
            "line \(line) of \(path) is not one of an endings journal, or a newer version has written it; \(Self.choice)"
        case .unknownKind(let path, let kind):
            "the endings journal \(path) has an ending of the kind \(kind), which this version does not know; use the "
                + "version that wrote it"
        case .ofAnotherServer(let paths):
            "the endings journal \(paths.joined(separator: ", ")) is not that of the server of this copy; \(Self.choice)"
        case .older(let through, let copy):
            "the endings journal is older than the copy: it ends with the number \(through), and the copy knows "
                + "\(copy); \(Self.choice)"
        case .lacksEnd(let number, let at):
            "the endings journal lacks the last ending of the copy, with the number \(number) and of \(Self.text(at)); "
                + "name the files of every server, or use --end-sign-ins"
        case .endsBefore(let until, let copy):
            "the endings journal is older than the copy: it ends at \(Self.text(until)), and the copy is of "
                + "\(Self.text(copy)); \(Self.choice)"
        case .severalRestores:
            "the files are of several servers that were restored from one copy; name only those of the server to restore"
        case .complete:
            "the restore with this endings journal is complete already; start the server; if the store was brought back "
                + "again since, name the files that were written since, too"
        case .gap(let from, let through):
            "the endings journal has a gap: the endings \(from) to \(through) are missing; name the other files of the "
                + "journal, too; if they are lost, use --end-sign-ins"
        }
    }

    private static let choice = "name its files, or use --end-sign-ins"

    private static func text(_ microseconds: Int64) -> String {
        Date(microseconds: microseconds).formatted(.iso8601)
    }
}
