import Foundation

/// The endings of one or several journal files, which together have no gap after a position.
package struct EndingsHistory: Sendable, Hashable {
    /// The endings after the position, in their order.
    package let endings: [Ending]
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
    ///   - snapshot: The time of the copy in microseconds, if the server noted it in its journal then.
    package init(
        ofFilesAt paths: [String], after position: EndingsPosition, copiedAt snapshot: Int64?
    ) throws(EndingsRefusal) {
        var sequences: [String: Sequence] = [:]
        var cut: [String] = []
        for path in paths {
            try Self.read(path, into: &sequences, cut: &cut)
        }
        cutFiles = cut
        var identity = position.identity
        guard sequences[identity] != nil else { throw .ofAnotherServer(paths) }
        var (number, endings, until, knownUntil) = (position.last, [Ending](), Int64(0), Int64(0))
        while let sequence = sequences.removeValue(forKey: identity) {
            // A later sequence continues this one where the store was restored.
            let followers = sequences.filter { $0.value.former == identity }
            // The numbers of two stores from one copy say nothing about each other.
            guard followers.count < 2 else { throw .severalRestores }
            let next = followers.first
            // What the copy knows after the restore is not in the sequence that continues there.
            if let next, number > next.value.first { throw .behindRestore(next.value.first, copy: number) }
            let limit = next.map(\.value.first) ?? .max
            guard let known = sequence.last, known >= number else {
                throw .older(through: sequence.last ?? 0, copy: number)
            }
            for ending in sequence.endings.values.sorted(by: { $0.number < $1.number })
            where ending.number > number && ending.number <= limit {
                guard ending.number == number + 1 else { throw .gap(from: number + 1, through: ending.number - 1) }
                endings.append(ending)
                number = ending.number
            }
            guard number >= min(known, limit) else { throw .gap(from: number + 1, through: min(known, limit)) }
            until = max(until, sequence.at)
            knownUntil = max(knownUntil, sequence.knownUntil)
            guard let next else { break }
            guard number >= next.value.first else { throw .gap(from: number + 1, through: next.value.first) }
            identity = next.key
        }
        // The times in a journal are in milliseconds.
        if let snapshot, until / 1000 < snapshot / 1000 { throw .endsBefore(until: until, copy: snapshot) }
        self.endings = endings
        end = EndingsPosition(identity: identity, last: number)
        self.knownUntil = knownUntil
    }

    /// The lines of one sequence.
    private struct Sequence {
        var endings: [Int64: Ending] = [:]
        var former: String?
        /// The number at which a continued sequence began.
        var first: Int64 = 0
        var last: Int64?
        var at: Int64 = 0
        var knownUntil: Int64 = 0
    }

    private static func read(
        _ path: String, into sequences: inout [String: Sequence], cut: inout [String]
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
        for (index, bytes) in lines.enumerated() {
            guard let line = JournalLine(Data(bytes)) else { throw .notAJournal(path, line: index + 1) }
            var sequence = sequences[line.identity] ?? Sequence()
            switch line {
            case .ending(let ending, _):
                guard Ending.Kind(name: ending.kind) != nil else { throw .unknownKind(path, kind: ending.kind) }
                guard sequence.endings.updateValue(ending, forKey: ending.number).map({ $0 == ending }) ?? true else {
                    throw .contradiction(number: ending.number)
                }
            case .mark(let mark):
                guard let former = mark.former else { break }
                sequence.former = former
                sequence.first = mark.number
            }
            sequence.last = max(sequence.last ?? 0, line.number)
            sequence.at = max(sequence.at, line.at)
            sequence.knownUntil = max(sequence.knownUntil, min(line.at, limit))
            sequences[line.identity] = sequence
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
    /// Two lines with one number differ.
    case contradiction(number: Int64)
    /// No line is of the store of the copy.
    case ofAnotherServer([String])
    /// The journal ends before the copy, by its numbers.
    case older(through: Int64, copy: Int64)
    /// The journal ends before the copy, by its times.
    case endsBefore(until: Int64, copy: Int64)
    /// The files are of several stores that were restored from one.
    case severalRestores
    /// The copy was made after the point at which the store was restored to an earlier state.
    case behindRestore(Int64, copy: Int64)
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
        case .contradiction(let number):
            "the endings journal has two different endings with the number \(number), so a file was changed; "
                + Self.choice
        case .ofAnotherServer(let paths):
            "the endings journal \(paths.joined(separator: ", ")) is not that of the server of this copy; \(Self.choice)"
        case .older(let through, let copy):
            "the endings journal is older than the copy: it ends with the number \(through), and the copy knows "
                + "\(copy); \(Self.choice)"
        case .endsBefore(let until, let copy):
            "the endings journal is older than the copy: it ends at \(Self.text(until)), and the copy is of "
                + "\(Self.text(copy)); \(Self.choice)"
        case .severalRestores:
            "the files are of several servers that were restored from one copy; name only those of the server to restore"
        case .behindRestore(let first, let copy):
            "the server was restored to an earlier state after this copy: its journal continues after the number "
                + "\(first), and the copy knows \(copy); \(Self.choice)"
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
