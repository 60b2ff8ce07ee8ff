import ArgumentParser

/// The options for the URL and the code of a sign-in on another device.
struct DeviceOutputOptions: ParsableArguments {
    /// The value of --qr: the condition under which a QR code is drawn.
    enum QRCodeChoice: String, ExpressibleByArgument, CaseIterable {
        case auto
        case always
        case never
    }

    @Option(help: "Draw the URL as a QR code, with libqrencode: if it fits on the terminal, always or never.")
    var qr: QRCodeChoice = .auto

    @Flag(help: "Copy the code to the clipboard.")
    var copy = false

    /// Throws if an option has no effect with the others.
    func validate(onDevice: Bool, inJSON: Bool) throws {
        guard qr == .always || copy else { return }
        guard onDevice else { throw ValidationError("--qr and --copy require --device.") }
        guard !inJSON else {
            throw ValidationError("--qr always and --copy are for people at a terminal; omit --json.")
        }
    }
}
