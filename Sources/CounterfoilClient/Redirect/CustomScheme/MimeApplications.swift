/// The default applications of the user, in the format of the file `mimeapps.list`.
///
/// Freedesktop.org specification "Association between MIME types and applications" 1.0.1. Each change affects
/// only the lines of one MIME type and the header `[Default Applications]`; all other bytes stay the same.
/// ``remove(_:as:)`` reverts ``put(_:first:)``.
struct MimeApplications: Sendable, Hashable {
    private static let header = Array("[Default Applications]".utf8)
    private var lines: [[UInt8]]

    init(_ bytes: [UInt8]) {
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    }

    var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

    /// Inserts an entry as the first default for a type, before the existing defaults.
    mutating func put(_ entry: String, first type: String) {
        remove(entry, as: type)
        let group = defaults
        let choice = Array("\(entry);".utf8)
        if let index = group.first(where: { place(of: type, in: lines[$0]) != nil }),
            let place = place(of: type, in: lines[index])
        {
            lines[index].insert(contentsOf: choice, at: place)
        } else if let header = group.first {
            lines.insert(Array("\(type)=".utf8) + choice, at: header + 1)
        } else {
            // If the file ends with a newline, the last line is empty; insert before it.
            let end = lines.last?.isEmpty == true ? lines.endIndex - 1 : lines.endIndex
            lines.insert(contentsOf: [Self.header, Array("\(type)=".utf8) + choice], at: end)
        }
    }

    /// Removes an entry if it is the first default for a type, and keeps the other defaults.
    ///
    /// A line without remaining entries is removed too. If the group then has no lines, its header is removed.
    mutating func remove(_ entry: String, as type: String) {
        let choice = Array("\(entry);".utf8)
        var hasChanged = false
        for index in defaults.reversed() {
            guard let place = place(of: type, in: lines[index]), lines[index][place...].starts(with: choice) else {
                continue
            }
            lines[index].removeSubrange(place..<place + choice.count)
            if lines[index].count == place { lines.remove(at: index) }
            hasChanged = true
        }
        let group = defaults
        if hasChanged, let header = group.first, group.dropFirst().allSatisfy({ lines[$0].isEmpty }) {
            lines.remove(at: header)
        }
    }

    /// The lines of the group `[Default Applications]`, including its header; empty if the group is missing.
    private var defaults: Range<Int> {
        let header = lines.firstIndex { line in
            line.starts(with: Self.header) && line.dropFirst(Self.header.count).allSatisfy(Self.isBlank)
        }
        guard let header else { return 0..<0 }
        let next = lines[(header + 1)...].firstIndex { $0.first == UInt8(ascii: "[") }
        return header..<(next ?? lines.endIndex)
    }

    /// Returns the index at which the value for a type starts in a line; nil if the line is for another type.
    private func place(of type: String, in line: [UInt8]) -> Int? {
        guard line.starts(with: Array(type.utf8)) else { return nil }
        let rest = line.dropFirst(type.utf8.count).drop(while: Self.isBlank)
        guard rest.first == UInt8(ascii: "=") else { return nil }
        return rest.dropFirst().drop(while: Self.isBlank).startIndex
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
