import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import CounterfoilWeb
import Foundation

extension ServerFindings {
    /// The parts of the validity of a certificate that are left when its renewal is late, as in the alerts.
    ///
    /// A certificate of 90 days and one of six days are renewed after the same part of their validity.
    private static let certificateNote = 0.25
    private static let certificateFault = 0.1
    /// The time in seconds for which a change of the issuer is a fault; if it is intended, the clients know it then.
    private static let issuerAge: TimeInterval = 7 * 86_400

    /// Checks the server as clients reach it: name, certificate, metadata, keys, clock and addresses.
    ///
    /// - Parameters:
    ///   - keys: The identifiers of the keys that sign, by the store.
    ///   - expected: The metadata by the store and the settings of the server; nil if those are not known.
    ///   - host: The other machine whose server has noted these settings; nil for this machine.
    ///   - isServed: Whether a server runs on the store; nil if that is not known.
    ///   - serverKey: The key of the servers on the store, which proves to them that an operator asks.
    mutating func checkIssuer(
        _ issuer: Issuer?, keys: [String], metadata expected: [UInt8]?, recordedOn host: String?, isServed: Bool?,
        serverKey: ServerKey, trusting authorities: OutboundAuthorities
    ) async {
        guard let issuer else {
            return advise(
                "issuer-unknown", "no server has started on this store, so its issuer is unknown",
                mend: "start counterfoil-server serve, and run this command again")
        }
        let probe = IssuerProbe(issuer, trusting: authorities)
        await checkCertificate(probe, of: issuer)
        let found: IssuerProbe.Found
        do { found = try await probe.metadata() } catch {
            guard isServed != false else {
                return fault(
                    "issuer-unreachable", "the metadata of \(issuer) cannot be read, and no server runs on this store",
                    mend: "start counterfoil-server serve, and run this command again")
            }
            return fault(
                "issuer-unreachable", "the metadata of \(issuer) cannot be read: \(error)",
                mend: "check the DNS entry, the reverse proxy and the firewall")
        }
        let isOurs = judge(found, of: issuer, keys: keys, metadata: expected, recordedOn: host, now: Date())
        // The proof is for the servers on this store, not for one that answers in their place.
        if isOurs { await checkAddresses(probe, of: issuer, serverKey: serverKey) }
    }

    /// Judges the issuer of the server by that of the servers before.
    mutating func judgeIssuer(of recorded: RecordedSettings, now: Date) {
        guard let issuer = recorded.issuer, let former = recorded.previousIssuer,
            now.timeIntervalSince(former.until) <= Self.issuerAge
        else { return }
        fault(
            "issuer-changed",
            "the issuer is \(issuer) since \(Moment.text(former.until)), and was \(former.issuer): apps and APIs that "
                + "know the former one refuse the answers and tokens of this server",
            mend: "start the server with --issuer \(former.issuer); if the change is intended, configure the new "
                + "issuer in every app and API (this finding ends after a week)")
    }

    /// Judges the metadata, the keys and the clock of the server at an issuer.
    ///
    /// - Returns: Whether a server on this store answers.
    @discardableResult mutating func judge(
        _ found: IssuerProbe.Found, of issuer: Issuer, keys: [String], metadata expected: [UInt8]?,
        recordedOn host: String? = nil, now: Date
    ) -> Bool {
        var isOurs = false
        if found.issuer != issuer.rawValue {
            fault(
                "issuer-differs", "the metadata at \(issuer) is that of \(VisibleText(found.issuer))",
                mend: "another server answers there: correct --issuer, the DNS entry or the reverse proxy")
        } else if let foreign = found.foreignEndpoint {
            fault(
                "endpoint-foreign", "the metadata names an endpoint of another origin: \(VisibleText(foreign))",
                mend: "remove what changes the response between the server and its clients")
        } else if Set(keys).isDisjoint(with: found.keys), !keys.isEmpty {
            fault(
                "keys-differ", "the keys at \(issuer) are not those of this store",
                mend: "a server on another store answers there: correct the DNS entry or the reverse proxy")
        } else {
            sound("issuer", "\(issuer) is answered by a server on this store, with its keys")
            judgeMembers(of: found, metadata: expected, recordedOn: host)
            isOurs = true
        }
        guard let date = found.date else { return isOurs }
        let difference = date.timeIntervalSince(now)
        if abs(difference) > Self.clockFault {
            fault(
                "issuer-clock", "the response of \(issuer) has a time that differs by \(Self.seconds(difference))",
                mend: "set the clock of this machine, and that of the reverse proxy, by NTP")
        }
        return isOurs
    }

    /// Compares each member of the metadata with that by the store and the settings.
    private mutating func judgeMembers(
        of found: IssuerProbe.Found, metadata expected: [UInt8]?, recordedOn host: String?
    ) {
        guard let expected = expected.flatMap({ try? JSONReader.object($0) }) else {
            return advise(
                "metadata-unchecked", "the metadata could not be compared with the settings, which are not noted",
                mend: "start counterfoil-server serve of this version, and run this command again")
        }
        let names = Set(expected.keys).union(found.members.keys).filter { expected[$0] != found.members[$0] }.sorted()
        guard !names.isEmpty else {
            return sound("metadata", "the metadata is that of the settings, in all \(expected.count) members")
        }
        let visible = names.prefix(20).map { "\(VisibleText($0))" }
        advise(
            "metadata-differs",
            "the metadata differs from the settings\(host.map { " of the server on \($0)" } ?? "") in \(visible.joined(separator: ", "))"
                + (names.count > visible.count ? " and \(names.count - visible.count) others" : ""),
            mend: "after a change, caches can have the former metadata for five minutes; otherwise restart servers of "
                + "another version or with other settings, and remove what changes the response")
    }

    private mutating func checkCertificate(_ probe: IssuerProbe, of issuer: Issuer) async {
        guard issuer.rawValue.hasPrefix("https:") else { return }
        let validity: DateInterval
        do { validity = try await probe.certificateValidity() } catch {
            return fault(
                "certificate", "no TLS connection to \(issuer) is possible: \(error)",
                mend: "check the certificate, its chain and its name; --tls-authority names a private authority")
        }
        judgeCertificate("the certificate of \(issuer)", validFor: validity, now: Date())
    }

    /// Judges the validity of a certificate.
    mutating func judgeCertificate(_ certificate: String, validFor validity: DateInterval, now: Date) {
        let left = validity.end.timeIntervalSince(now) / max(validity.duration, 1)
        let text = "\(certificate) is valid until \(Moment.text(validity.end))"
        if left < Self.certificateFault {
            fault("certificate-expires", text, mend: "renew the certificate now")
        } else if left < Self.certificateNote {
            advise("certificate-expires", text, mend: "check why the certificate has not been renewed yet")
        } else {
            sound("certificate", text)
        }
    }

    /// Checks that the page of the owner that signs users in answers, and compares its clock with that of this machine.
    mutating func checkSignInPage(_ page: String, trusting authorities: OutboundAuthorities) async {
        let date: Date?
        do { date = try await IssuerProbe.time(of: page, trusting: authorities) } catch {
            // Browsers may reach what this machine does not.
            return advise(
                "sign-in-page", "the page of external-sign-in does not answer: \(error)",
                mend: "if browsers do not reach it either, users can only sign in with a password or a passkey")
        }
        judgeSignInPage(page, differingBy: date.map { $0.timeIntervalSince(Date()) })
    }

    /// Judges the clock of the page of the owner; nil if its response has no time.
    mutating func judgeSignInPage(_ page: String, differingBy difference: TimeInterval?) {
        guard let difference, abs(difference) > Self.clockFault else {
            return sound("sign-in-page", "the page of external-sign-in answers: \(page)")
        }
        fault(
            "sign-in-page-clock",
            "the clocks of this machine and of the page of external-sign-in differ by \(Self.seconds(difference))",
            mend: "synchronize both clocks by NTP: this server refuses responses of the future")
    }

    /// Compares the clock of this machine with the time of a web server.
    ///
    /// - Parameter url: The URL of the server; nil if none is named.
    mutating func checkClock(with url: String?, trusting authorities: OutboundAuthorities) async {
        guard let url else {
            return advise(
                "clock-unchecked", "the clock of this machine was not compared with that of another organization",
                mend: "name an https URL of another organization with --clock-from")
        }
        let date: Date?
        do { date = try await IssuerProbe.time(of: url, trusting: authorities) } catch {
            return advise(
                "clock-unchecked", "the clock could not be compared: \(error)",
                mend: "name an https URL that this machine can reach with --clock-from")
        }
        guard let date else {
            return advise(
                "clock-unchecked", "the response of \(url) has no time", mend: "name another URL with --clock-from")
        }
        judgeClock(differingBy: date.timeIntervalSince(Date()), from: url)
    }

    private mutating func judgeClock(differingBy difference: TimeInterval, from url: String) {
        let text = "the clocks of this machine and of \(url) differ by \(Self.seconds(difference))"
        if abs(difference) > Self.clockFault {
            fault("clock", text, mend: "synchronize the clock of this machine by NTP (chrony, systemd-timesyncd)")
        } else {
            sound("clock", text)
        }
    }
}

/// A text of another server for the terminal, without control characters.
private struct VisibleText: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        description = String(
            String.UnicodeScalarView(text.unicodeScalars.prefix(200).filter { $0.value > 0x20 && $0.value < 0x7F }))
    }
}
