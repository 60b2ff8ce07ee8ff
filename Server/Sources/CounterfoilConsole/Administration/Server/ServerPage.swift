import CounterfoilServer

/// The state of the server and of its database, and the findings about them.
package struct ServerPage: ConsolePage, Hashable {
    package static let template = "server"

    package struct Fact: Sendable, Hashable {
        package let name: String
        package let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A finding, whose texts are in English as `counterfoil-server doctor` prints them.
    package struct Finding: Sendable, Hashable {
        package let topic: String
        package let text: String
        /// The remedy; nil if none is needed.
        package let mend: String?
        package let isFault: Bool
        package let isAdvice: Bool
        package let isSound: Bool

        init(_ finding: ServerFinding) {
            topic = finding.topic
            text = finding.text
            mend = finding.mend
            isFault = finding.weight == .fault
            isAdvice = finding.weight == .advice
            isSound = finding.weight == .sound
        }
    }

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var facts: [Fact]
    package var keysPath: String
    package var settingsPath: String
    /// The path of the certificate; nil if the program of the server does not report it.
    package var certificatePath: String?
    /// The findings, faults first.
    package var findings: [Finding]
    /// Whether the findings include those of the checks that take long.
    package var isChecked = false
    /// Why the checks that take long have no result; nil if they have one, or were not started.
    package var remark: String?
    /// The anti-CSRF token of the form that starts these checks; nil if the program of the server has no checks.
    package var ticket: String?
    package var action: String
}

/// The certificate of the server, and the form that requests a new one.
package struct CertificatePage: ConsolePage, Hashable {
    package static let template = "certificate"

    package var console: ConsoleHead
    package var serverPath: String
    /// The authority that has issued the certificate; nil if the server has ordered none.
    package var authority: String?
    /// The end of the validity, in words.
    package var validity: String
    /// Whether a new certificate was requested and is not there yet.
    package var isRequested: Bool
    /// The failed orders, in words; nil if the last one succeeded.
    package var failed: String?
    package var action: String
    /// The anti-CSRF token of the form; nil if the server does not order its certificate.
    package var ticket: String?
}
