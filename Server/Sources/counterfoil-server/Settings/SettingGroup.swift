import ArgumentParser

/// A group of options of `serve`, each of which is a setting.
///
/// A new setting is three lines in the file of its group: its value in ``Settings``, its option, and its line in
/// ``options``. A test compares the options with the settings.
protocol SettingGroup: ParsableArguments {
    /// The title of the group in the help of `serve` and in the example file.
    static var title: String { get }
    /// The settings of the group with their options, in the order of the help.
    static var options: [SettingOption<Self>] { get }
}

/// The option of a setting.
struct SettingOption<Group>: Sendable {
    let setting: any AnySetting
    /// Returns the texts of the option; nil if the command line does not have it.
    let texts: @Sendable (Group) -> [String]?

    init<Value>(_ setting: Setting<Value>, _ option: any KeyPath<Group, String?> & Sendable) {
        self.setting = setting
        texts = { group in group[keyPath: option].map { [$0] } }
    }

    init<Value>(_ setting: Setting<Value>, _ option: any KeyPath<Group, [String]> & Sendable) {
        self.setting = setting
        texts = { group in group[keyPath: option].isEmpty ? nil : group[keyPath: option] }
    }

    init(_ setting: Setting<Bool>, _ option: any KeyPath<Group, Bool> & Sendable) {
        self.setting = setting
        texts = { group in group[keyPath: option] ? ["true"] : nil }
    }
}

/// The settings of a group among the options of a command.
struct SettingSection<Command>: Sendable {
    let title: String
    let settings: [any AnySetting]
    /// Returns the texts of the options that the command line has, by the names of the settings.
    let texts: @Sendable (Command) -> [String: [String]]

    init<Group: SettingGroup>(_ group: any KeyPath<Command, Group> & Sendable) {
        let options = Group.options
        title = Group.title
        settings = options.map(\.setting)
        texts = { command in
            options.reduce(into: [:]) { $0[$1.setting.name] = $1.texts(command[keyPath: group]) }
        }
    }
}

extension Option where Value == String? {
    /// Declares the option of a setting, whose text is read with those of the other places.
    init<Setting: AnySetting>(_ setting: Setting) {
        self.init(
            name: .customLong(setting.name), help: setting.help,
            completion: setting.choices.isEmpty ? nil : .list(setting.choices))
    }
}

extension Option where Value == [String] {
    /// Declares the option of a setting that is a list.
    init<Setting: AnySetting>(_ setting: Setting) {
        self.init(wrappedValue: [], name: .customLong(setting.name), help: setting.help)
    }
}

extension Flag where Value == Bool {
    /// Declares the option of a setting that is a flag.
    init(_ setting: Setting<Bool>) {
        self.init(wrappedValue: false, name: .customLong(setting.name), help: ArgumentHelp("\(setting.explanation)"))
    }
}
