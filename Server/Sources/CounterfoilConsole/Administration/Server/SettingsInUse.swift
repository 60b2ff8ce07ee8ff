import CounterfoilServer
import HTTPTypes

/// `/admin/settings`: the settings in use, and the place that sets each of them.
struct SettingsInUse: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) -> Reply {
        let words = exchange.words
        let groups = (console.reporter?.settings ?? []).map { group in
            SettingsPage.Group(title: group.title, rows: group.settings.map { row($0, words) })
        }
        let page = SettingsPage(
            console: console.head(exchange, in: .administration), serverPath: console.path(.server), groups: groups)
        return Reply(.ok, .page(page))
    }

    private func row(_ setting: ReportedSetting, _ words: Localizer) -> SettingsPage.Row {
        var row = SettingsPage.Row(
            name: setting.name, origin: origin(of: setting, words), isStandard: setting.origin == .standard,
            waitsForRestart: setting.waitsForRestart)
        switch setting.value {
        case .missing: row.remark = words(SystemMessage.notSet)
        case .secret: row.remark = words(SystemMessage.secret)
        case .one(let text): row.values = [Self.visible(text)]
        case .many(let texts) where texts.isEmpty: row.remark = words(SystemMessage.empty)
        case .many(let texts): row.values = texts.map(Self.visible)
        }
        return row
    }

    private func origin(of setting: ReportedSetting, _ words: Localizer) -> String {
        switch setting.origin {
        case .standard: words(SystemMessage.standard)
        case .option: words(LocalizedText(SystemMessage.option, ["name": .text("--\(setting.name)")]))
        case .variable(let name): words(LocalizedText(SystemMessage.variable, ["name": .text(name)]))
        case .file(let path, let line):
            words(LocalizedText(SystemMessage.line, ["path": .text(path), "line": .number(line)]))
        case .credentials(let path): words(LocalizedText(SystemMessage.ownFile, ["path": .text(path)]))
        }
    }

    /// Returns a value without control characters, as `config show` prints it.
    private static func visible(_ text: String) -> String {
        String(text.map { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ? $0 : "?" })
    }
}

/// The settings in use, by groups.
package struct SettingsPage: ConsolePage, Hashable {
    package static let template = "server-settings"

    package struct Group: Sendable, Hashable {
        /// The title, in English as in the help of the program.
        package var title: String
        package var rows: [Row]
    }

    package struct Row: Sendable, Hashable {
        package var name: String
        /// The values as they are written in a settings file; empty if there is a ``remark`` instead.
        package var values: [String] = []
        package var remark: String?
        /// The place that sets the setting, in words.
        package var origin: String
        package var isStandard: Bool
        package var waitsForRestart: Bool
    }

    package var console: ConsoleHead
    package var serverPath: String
    /// The groups; empty if the program of the server reports none.
    package var groups: [Group]
}
