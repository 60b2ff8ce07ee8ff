import CounterfoilServer
import CounterfoilStore

extension ReportedSetting {
    /// Creates the report of a setting; none contains a secret, but some the path of a file with one.
    init(_ setting: any AnySetting, _ given: SettingTexts.Value?, path: String?, waitsForRestart: Bool = false) {
        let texts = given?.texts ?? setting.standardTexts
        let origin: Origin =
            switch given?.origin {
            case nil: .standard
            case .option: .option
            case .environment: .variable(setting.variable)
            case .file(let line): .file(path: path ?? "", line: line)
            }
        self.init(
            name: setting.name,
            value: setting.kind == .list ? .many(texts) : texts.first.map(Value.one) ?? .missing,
            origin: origin, waitsForRestart: waitsForRestart)
    }

    /// Creates the report of the server key, of which only the origin is shown.
    init(serverKeyIn environment: [String: String]) {
        let name = "server-key"
        if environment[ServerKey.variable] != nil {
            self.init(name: name, value: .secret, origin: .variable(ServerKey.variable))
        } else if let file = ServerKeyFile.credential(environment) {
            self.init(name: name, value: .secret, origin: .credentials(path: file.path))
        } else {
            self.init(name: name, value: .missing, origin: .standard)
        }
    }
}

extension [ReportedSettings] {
    /// Creates the report of all settings in the groups of the help, with the server key in the first one.
    init(_ environment: [String: String], _ report: (any AnySetting) -> ReportedSetting) {
        self = []
        for section in ServeOptions.groups {
            let settings = section.settings.filter { $0.administration == nil }.map(report)
            let joined = last?.title == section.title ? removeLast().settings : []
            append(ReportedSettings(title: section.title, settings: joined + settings))
        }
        guard let first else { return }
        self[0] = ReportedSettings(
            title: first.title, settings: first.settings + [ReportedSetting(serverKeyIn: environment)])
    }
}
