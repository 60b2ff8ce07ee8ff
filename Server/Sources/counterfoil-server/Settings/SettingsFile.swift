import CoreFoundation
import CounterfoilServer
import Foundation
import Yams

/// A settings file: the settings that it contains, each with its line.
struct SettingsFile: Sendable {
    struct Entry: Sendable {
        let line: Int
        /// The texts of the value: one, or those of a list.
        let texts: [String]
    }

    let path: String
    let entries: [String: Entry]

    /// The maximum size in bytes.
    static let limit = 256 * 1024

    /// Reads a file; every mistake in it is an error with its line.
    init(at path: String) throws(CommandFailure) {
        self.path = path
        let bytes = try Self.read(path)
        guard !bytes.allSatisfy({ [0x20, 0x0A, 0x0D].contains($0) }) else {
            throw .refused("\(path): the file is empty; write at least issuer and listen")
        }
        do {
            entries = try Self.entries(in: try SettingsFileText(bytes).text)
        } catch let mistake as SettingsFileText.Mistake {
            throw .refused("\(path), line \(mistake.line): \(mistake.reason)")
        } catch {
            throw .refused("\(path): \(error)")
        }
    }

    /// Reads the bytes of a regular file that other users cannot change.
    private static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        let file = try RegularFile(at: path, called: "the settings file")
        guard file.isOwn else {
            throw .refused(
                "the settings file \(path) belongs to another user, who could change it; its owner must be root or the "
                    + "user of this command")
        }
        guard file.mode & 0o022 == 0 else {
            throw .refused("other users can change the settings file \(path); run: chmod go-w \(path)")
        }
        return try file.bytes(limit: limit)
    }

    private static func entries(in text: String) throws -> [String: Entry] {
        let root: Node?
        do { root = try Parser(yaml: text, encoding: .utf8).singleRoot() } catch {
            guard let error = error as? YamlError else { throw error }
            throw SettingsFileText.Mistake(error, in: text)
        }
        guard let root, !isNull(root) else { return [:] }
        guard case .mapping(let mapping) = root else {
            throw SettingsFileText.Mistake(
                line: root.mark?.line ?? 1, reason: "the file must have lines such as issuer: https://id.example.com")
        }
        var entries: [String: Entry] = [:]
        for (key, value) in mapping {
            let line = key.mark?.line ?? 1
            guard case .scalar(let name) = key else {
                throw SettingsFileText.Mistake(line: line, reason: "the name of a setting must be a word")
            }
            do {
                let setting = try SettingName.setting(named: name.string)
                entries[name.string] = Entry(line: line, texts: try texts(of: value, for: setting))
            } catch {
                throw SettingsFileText.Mistake(line: error.line ?? line, reason: error.reason)
            }
        }
        return entries
    }

    private static func isNull(_ node: Node) -> Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Returns the texts of a value; the form of the setting reads them.
    private static func texts(
        of node: Node, for setting: any AnySetting
    ) throws(SettingName.Refusal) -> [String] {
        let line = node.mark?.line
        switch (node, setting.kind) {
        case (.scalar(let scalar), _):
            guard !isNull(node) else {
                throw .init(line: nil, reason: "\(setting.name) has no value; write one, or delete the line")
            }
            return [scalar.string]
        case (.sequence(let nodes), .list):
            var texts: [String] = []
            for node in nodes {
                guard case .scalar(let scalar) = node, !isNull(node) else {
                    throw .init(line: node.mark?.line, reason: "each element of \(setting.name) must be one value")
                }
                texts.append(scalar.string)
            }
            return texts
        case (.sequence, .flag):
            throw .init(line: line, reason: "\(setting.name) must be true or false, not a list")
        case (.sequence, .value):
            throw .init(line: line, reason: "\(setting.name) must be one value, not a list")
        case (.mapping, .list):
            throw .init(line: line, reason: "\(setting.name) must be a list of values; it has no settings of its own")
        case (.mapping, _), (.alias, _):
            throw .init(line: line, reason: "\(setting.name) must be one value; it has no settings of its own")
        }
    }
}

extension SettingsFileText.Mistake {
    /// Creates a mistake from an error of the YAML parser.
    fileprivate init(_ error: YamlError, in text: String) {
        switch error {
        case .duplicatedKeysInMapping(let names, let context):
            let name = names.first ?? ""
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                .filter { $0.element.trimmingPrefix(/["']/).hasPrefix(name) }
                .filter { $0.element.firstMatch(of: /^["']?[^:"']*["']? *:/) != nil }
                .filter { $0.element.prefix { $0 != ":" }.trimmingCharacters(in: ["\"", "'", " "]) == name }
                .map { $0.offset + 1 }
            let first = lines.first ?? context.mark.line
            self.init(
                line: lines.dropFirst().first ?? first, reason: "\(name) is set again; line \(first) sets it, too")
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
            self.init(line: mark.line, reason: "not YAML: \(problem) (column \(mark.column))")
        case .composer(_, let problem, let mark, _):
            let isSecond = problem.contains("another document")
            self.init(line: mark.line, reason: isSecond ? "a second document; a file has one" : "not YAML: \(problem)")
        case .reader(let problem, let offset, _, _):
            let line = text.prefix(offset ?? 0).count { $0.isNewline } + 1
            self.init(line: line, reason: "not YAML: \(problem)")
        default:
            self.init(line: 1, reason: "not YAML")
        }
    }
}
