/// The file that tells a Linux desktop which program takes the addresses of a scheme.
///
/// Desktop Entry Specification 1.5: `$XDG_DATA_HOME/applications/NAME.desktop`. `%u` stands for the address, which the
/// desktop passes as one argument and never through a shell.
struct DesktopEntry: Sendable, Hashable {
    let scheme: String
    let handler: RedirectHandler

    /// The words before every file name, by which the files of this product are known.
    static let prefix = "counterfoil-redirect-"
    private static let suffix = ".desktop"

    /// The name of the file, which is also the identifier that `mimeapps.list` knows.
    var fileName: String { Self.fileName(of: scheme) }

    static func fileName(of scheme: String) -> String { prefix + scheme + suffix }

    /// The scheme of a file of this product; nil for another's.
    static func scheme(ofFile name: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return String(name.dropFirst(prefix.count).dropLast(suffix.count))
    }

    /// The type by which desktops ask for the program of a scheme.
    static func contentType(of scheme: String) -> String { "x-scheme-handler/\(scheme)" }

    var text: String {
        """
        [Desktop Entry]
        Type=Application
        Name=\(Self.escape(handler.name))
        Comment=Takes the answer of a sign-in to the application that waits for it
        Exec=\(([handler.program] + handler.arguments).map(Self.quote).joined(separator: " ")) %u
        NoDisplay=true
        Terminal=false
        StartupNotify=false
        MimeType=\(Self.contentType(of: scheme));

        """
    }

    /// A value of type string: on one line, a backslash doubled.
    private static func escape(_ text: String) -> String {
        text.strippingControlCharacters.replacing("\\", with: "\\\\")
    }

    /// One word of `Exec`, in quotation marks where it has a character that the specification reserves.
    ///
    /// A percent sign is doubled. The whole is a string as well, in which a backslash is doubled once more.
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
