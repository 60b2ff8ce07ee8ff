import CounterfoilStore
import Foundation

/// The end of the files of an endings journal.
struct JournalEnd: Sendable, Hashable {
    /// The sequence of the last line.
    let identity: String
    /// The number of the last ending that the journal has with its last line.
    let number: Int64
    /// The last ending of the sequence; nil if the files have none of it yet.
    let ending: Ending?
    /// Whether the current file is empty or missing, so that this is the end of the newest former one.
    var isOfPreviousFile = false

    /// Returns true if two are the same end.
    func isSame(as other: JournalEnd) -> Bool {
        guard identity == other.identity, number == other.number else { return false }
        guard let ending, let last = other.ending else { return ending == nil && other.ending == nil }
        return ending.isSame(as: last)
    }

    /// Returns nil for the end of a former file that has nothing to do with a store: a new file begins its journal.
    func relevant(to position: EndingsPosition) -> JournalEnd? {
        isOfPreviousFile && ![position.identity, position.former].contains(identity) ? nil : self
    }
}

extension JournalEnd {
    /// Reads the end of a journal without a lock; nil if it has no line.
    ///
    /// - Throws: The error of the system, except that a file is missing.
    static func read(ofJournalAt path: String) throws(JournalFailure) -> JournalEnd? {
        if let end = try read(ofFileAt: path) { return end }
        return try readFormer(ofJournalAt: path)
    }

    /// Reads the end of the newest former file; nil if there is none.
    static func readFormer(ofJournalAt path: String) throws(JournalFailure) -> JournalEnd? {
        guard let former = try JournalFile.former(ofJournalAt: path).last else { return nil }
        var end = try read(ofFileAt: former)
        end?.isOfPreviousFile = true
        return end
    }

    /// Reads the end of a file without a lock; nil if the file is missing or has no line.
    private static func read(ofFileAt path: String) throws(JournalFailure) -> JournalEnd? {
        guard let (descriptor, size) = try JournalFile.openExisting(path) else { return nil }
        defer { _ = Foundation.close(descriptor) }
        let end = try read(descriptor, size: size, path: path).end
        if end != nil, try !isFirstLineValid(of: descriptor, path: path) { throw .notAJournal(path: path) }
        return end
    }

    /// Reads the end of an open file, and returns it with the size of the file up to its last complete line.
    static func read(
        _ descriptor: CInt, size: off_t, path: String
    ) throws(JournalFailure) -> (end: JournalEnd?, size: off_t) {
        var length = min(off_t(2 * JournalLine.limit), size)
        while true {
            let bytes = try read(descriptor, from: size - length, count: Int(length), path: path)
            let complete = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes.prefix(through: $0) } ?? []
            let unfinished = bytes.dropFirst(complete.count)
            let end = size - off_t(unfinished.count)
            if complete.isEmpty {
                guard end == 0, JournalLine.canBegin(unfinished) else { throw .notAJournal(path: path) }
                return (nil, end)
            }
            let lines = complete.split(separator: UInt8(ascii: "\n"))
            guard let last = lines.last.flatMap({ JournalLine(Data($0)) }) else { throw .notAJournal(path: path) }
            let (ending, isFound) = lastEnding(of: lines, in: last.identity)
            // Before the last ending, there can be marks of years.
            guard isFound || length == size else {
                length = size
                continue
            }
            return (JournalEnd(identity: last.identity, number: last.number, ending: ending), end)
        }
    }

    /// Returns the last ending of a sequence, and whether the lines have it or a beginning.
    ///
    /// The store had nothing of what is before a beginning (``JournalFile/turn(to:after:continuing:from:of:at:)``).
    private static func lastEnding(
        of lines: [ArraySlice<UInt8>], in identity: String
    ) -> (ending: Ending?, isFound: Bool) {
        for bytes in lines.reversed() where !isCurrentMark(Data(bytes)) {
            guard case .ending(let ending, identity)? = JournalLine(Data(bytes)) else { return (nil, true) }
            return (ending, true)
        }
        return (nil, false)
    }

    /// Returns true for a mark in the middle of a sequence, of which there can be many after the last ending.
    private static func isCurrentMark(_ bytes: Data) -> Bool {
        bytes.range(of: Data("\"mark\":\"current\"".utf8)) != nil && bytes.range(of: Data("\"ended\":".utf8)) == nil
    }

    /// Returns true if the first line of an open file is one of a journal; the file has a line.
    static func isFirstLineValid(of descriptor: CInt, path: String) throws(JournalFailure) -> Bool {
        var bytes: [UInt8] = []
        for length in [4096, JournalLine.limit + 1] {
            bytes = [UInt8](repeating: 0, count: length)
            let count = pread(descriptor, &bytes, length, 0)
            guard count >= 0 else { throw .system("read", path) }
            bytes.removeLast(length - count)
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            return JournalLine(Data(bytes[..<end])) != nil
        }
        return false
    }

    private static func read(
        _ descriptor: CInt, from start: off_t, count: Int, path: String
    ) throws(JournalFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(descriptor, &bytes, count, start) == count else { throw .system("read", path) }
        return bytes
    }
}

/// The endings of a store that come after the end of a journal.
enum Continuation: Sendable {
    /// The store has the end of the journal, and these endings after a number; there can be more.
    case after(Int64, [Ending], of: EndingsPosition)
    /// The store lacks the last ending of the journal, or has another one with its number.
    case lacksEnd
    /// The journal is of another store.
    case ofAnotherStore
    /// The journal has endings that the last restore of the store did not have.
    case restoredWithout
}

extension SQLConnection {
    /// Reads the endings with which a journal continues.
    ///
    /// - Parameters:
    ///   - end: The end of the journal, read before the store; nil if the journal has no line.
    ///   - limit: The largest number of endings.
    func continuation(of end: JournalEnd?, atMost limit: Int) throws -> Continuation {
        let position = try endingsPosition()
        guard let end = end?.relevant(to: position) else {
            let begin = try endingsBegin()
            return .after(begin, try endings(after: begin, atMost: limit), of: position)
        }
        guard end.identity == position.identity else {
            // The first start after a restore continues the journal with which the store was restored.
            guard end.identity == position.former else { return .ofAnotherStore }
            guard end.number <= position.first else { return .restoredWithout }
            return .after(position.first, try endings(after: position.first, atMost: limit), of: position)
        }
        guard end.number <= position.last else { return .lacksEnd }
        guard let last = end.ending else {
            return .after(end.number, try endings(after: end.number, atMost: limit), of: position)
        }
        let found = try endings(after: last.number - 1, atMost: limit + 1)
        if let first = found.first, first.isSame(as: last) {
            return .after(last.number, Array(found.dropFirst()), of: position)
        }
        // The store deletes old endings. If the journal was not written for so long, the numbers show the gap.
        guard try last.number <= endingsBegin() else { return .lacksEnd }
        return .after(last.number, Array(found.prefix(limit)), of: position)
    }
}
