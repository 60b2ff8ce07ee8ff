import CounterfoilClient
@_spi(Counterfoil) import QRCode

/// The messages with which the user signs in on another device: a URL, a code and a QR code.
struct DeviceInstructions: Sendable {
    let console: CommandOutput
    let options: DeviceOutputOptions
    /// The value of --timeout in seconds; nil means until the code expires.
    let timeout: Int?

    /// Writes the URL, the code and the QR code, and copies the code.
    func tell(_ instructions: DeviceSignIn.Instructions) async {
        console.say("Open: \(instructions.verificationURI)")
        console.say("Code: \(instructions.userCode)")
        if let complete = instructions.verificationURIComplete {
            console.say("Or open this URL, which contains the code: \(complete)")
        }
        if !console.writesJSON {
            draw(instructions.verificationURIComplete ?? instructions.verificationURI)
            if options.copy { console.say(await Clipboard().copy(instructions.userCode).description) }
        }
        let lifetime = Int(instructions.lifetime.components.seconds)
        let seconds = timeout.map { min($0, lifetime) } ?? lifetime
        let time = SpokenDuration(seconds: seconds)
        console.say("Waiting \(time) for your approval on another device; press Control-C to stop.")
    }

    /// Draws a QR code where --qr and the terminal allow it.
    private func draw(_ url: BrowserURL) {
        guard options.qr != .never else { return }
        let terminal = ErrorTerminal()
        guard terminal != nil || options.qr == .always else { return }
        let code: QRCode
        do throws(QRCode.Failure) { code = try QRCode(url.rawValue, correction: .low) } catch {
            console.say("No QR code is shown: \(error).")
            return
        }
        let lines = code.halfBlocks(terminal?.hasColors == true ? .blackOnWhite : .terminal)
        if options.qr == .auto, let terminal, terminal.columns < code.outerWidth || terminal.rows < lines.count {
            console.say(
                "No QR code is shown: it needs a terminal of \(code.outerWidth) columns and \(lines.count) rows.")
            return
        }
        console.say("Or scan this QR code, which contains the URL:")
        console.draw(lines)
    }
}
