/// The file that tells a Linux desktop which program opens the URLs of a scheme.
///
/// Desktop Entry Specification 1.5: `$XDG_DATA_HOME/applications/NAME.desktop`. The desktop replaces `%u`
/// with the URL, which it passes as one argument and never through a shell.
struct DesktopEntry: Sendable, Hashable {
    let scheme: String
    let handler: RedirectHandler

    /// The prefix of every file name, which identifies the files of this library.
    static let prefix = "counterfoil-redirect-"
    private static let suffix = ".desktop"

    /// The name of the file, which is also its identifier in `mimeapps.list`.
    var fileName: String { Self.fileName(of: scheme) }

    static func fileName(of scheme: String) -> String { prefix + scheme + suffix }

    /// Returns the scheme of a file of this library; nil for other files.
    static func scheme(ofFile name: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return String(name.dropFirst(prefix.count).dropLast(suffix.count))
    }

    /// Returns the MIME type under which desktops look up the program for a scheme.
    static func contentType(of scheme: String) -> String { "x-scheme-handler/\(scheme)" }

    var text: String {
        """
        [Desktop Entry]
        Type=Application
        Name=\(Self.escape(handler.name))
        Comment=Delivers the response of a sign-in to the waiting app
        Exec=\(([handler.program] + handler.arguments).map(Self.quote).joined(separator: " ")) %u
        NoDisplay=true
        Terminal=false
        StartupNotify=false
        MimeType=\(Self.contentType(of: scheme));

        """
    }

    /// Formats a value of the type `string` of a desktop entry: removes control characters and doubles backslashes.
    private static func escape(_ text: String) -> String {
        text.strippingControlCharacters.replacing("\\", with: "\\\\")
    }

    /// Formats one argument of `Exec`, with quotation marks if it is empty or contains a reserved character.
    ///
    /// A percent sign is doubled, and some characters are escaped with a backslash. Because `Exec` is a value of
    /// the type string, every backslash is then doubled.
    private static func quote(_ word: String) -> String {
        let percent = word.replacing("%", with: "%%")
        let reserved: Set<Character> = [
            " ", "\t", "\n", "\"", "'", "\\", ">", "<", "~", "|", "&", ";", "$", "*", "?", "#", "(", ")", "`",
        ]
        guard percent.isEmpty || percent.contains(where: reserved.contains) else { return percent }
        var quoted = ""
        for character in percent {
            if ["\"", "`", "$", "\\"].contains(character) { quoted += "\\" }
            quoted.append(character)
        }
        return "\"\(quoted.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\t", with: "\\t"))\""
    }
}
