import CounterfoilStore

/// The name that an app gives its device (`device_name`), made safe for display.
///
/// It is cleaned like a ``DisplayName`` and cut at `GrantDevice.nameLimit` characters. The app can send any name, so
/// pages show it as the word of the app.
struct DeviceName: Sendable, Hashable, CustomStringConvertible {
    /// The cleaned name; never empty.
    let description: String

    /// Cleans a name; nil if nothing visible remains.
    init?(_ sent: String) {
        let scalars = sent.unicodeScalars.prefix(GrantDevice.nameLimit * 16)
        let words = VisibleText(of: scalars).scalars.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return nil }
        description = String(words.joined(separator: " ").prefix(GrantDevice.nameLimit))
    }
}
