import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/admin/server`: the state of the server and of its database, and what is wrong with them.
struct ServerState: Sendable {
    let console: Console

    /// The answer to the form that starts the checks that take long.
    private enum Answer {
        case none
        case checked([ServerFinding])
        /// The checks take longer than a request may.
        case tooLate
        /// The administrator has started too many checks, and must wait for some seconds.
        case wait(Int)
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply { try await page(exchange) }

    /// Starts the checks that take long, within a rate limit for each user.
    ///
    /// Only a form with an anti-CSRF token can start them, so that no link can make the server send requests.
    func check(_ exchange: Console.Exchange) async throws -> Reply {
        guard let reporter = console.reporter else { throw NotFoundError() }
        _ = try console.form(exchange)
        if let seconds = console.serverChecks.admit(.user(exchange.user.id), at: exchange.now) {
            return try await page(exchange, .wait(seconds))
        }
        let found = await reporter.slowFindings(for: exchange.request.context)
        return try await page(exchange, found.map(Answer.checked) ?? .tooLate)
    }

    private func page(_ exchange: Console.Exchange, _ answer: Answer = .none) async throws -> Reply {
        let (words, context) = (exchange.words, exchange.request.context)
        var findings = await console.reporter?.findings(for: context) ?? []
        var page = ServerPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .server),
            notice: exchange.notice(SystemNotice.self), facts: try await facts(exchange),
            keysPath: console.path(.keys), settingsPath: console.path(.serverSettings),
            certificatePath: console.reporter.map { _ in console.path(.certificate) },
            findings: [], ticket: console.reporter.map { _ in console.ticket(exchange, for: console.path(.server)) },
            action: console.path(.server))
        var status = HTTPResponse.Status.ok
        var fields: HTTPFields = [:]
        switch answer {
        case .none: break
        case .checked(let found):
            findings += found
            page.isChecked = true
        case .tooLate: page.remark = words(SystemMessage.tooLate)
        case .wait(let seconds):
            page.remark = words(LocalizedText(SystemMessage.wait, ["count": .number(seconds)]))
            (status, fields) = (.tooManyRequests, [.retryAfter: String(seconds)])
        }
        page.findings = findings.mostSevereFirst.map(ServerPage.Finding.init)
        return Reply(status, .page(page), fields: fields)
    }

    private func facts(_ exchange: Console.Exchange) async throws -> [ServerPage.Fact] {
        let words = exchange.words
        var facts = [
            ServerPage.Fact(words(LocalizedText("system.version")), Build.version),
            ServerPage.Fact(
                words(LocalizedText("system.uptime")),
                words(LocalizedText.duration(seconds: Int(console.lifetime.age.components.seconds)))),
        ]
        if let state = await console.installation(exchange) {
            facts += [
                ServerPage.Fact(words(LocalizedText("system.database")), state.software),
                ServerPage.Fact(words(LocalizedText("system.tables")), String(state.tables)),
                ServerPage.Fact(words(LocalizedText("system.place")), state.place),
                ServerPage.Fact(words(LocalizedText("system.size")), size(of: state, words)),
                ServerPage.Fact(words(LocalizedText("system.backup")), backup(of: state, exchange)),
                ServerPage.Fact(
                    words(LocalizedText("system.certificate.title")),
                    state.certificate.map { $0.validityText(exchange) } ?? words(SystemMessage.plain)),
            ]
            facts += state.servers.map { server in
                ServerPage.Fact(
                    words(server.isThis ? LocalizedText("system.this-server") : LocalizedText("system.other-server")),
                    server.name)
            }
        }
        let heartbeat = try await console.store.serviceRecord(since: exchange.now).answeredAt
        facts.append(
            ServerPage.Fact(
                words(LocalizedText("system.heartbeat")),
                heartbeat.map { words.ago($0, now: exchange.now) } ?? words(SystemMessage.noHeartbeat)))
        facts.append(ServerPage.Fact(words(LocalizedText("system.lease")), try await lease(exchange)))
        return facts
    }

    private func size(of state: InstallationState, _ words: Localizer) -> String {
        guard let free = state.free else { return "\(ByteCount(state.size))" }
        return words(
            LocalizedText(
                SystemMessage.sizeWithFree,
                ["size": .text("\(ByteCount(state.size))"), "free": .text("\(ByteCount(free))")]))
    }

    private func backup(of state: InstallationState, _ exchange: Console.Exchange) -> String {
        switch state.backup {
        case .made(let time): exchange.words.moment(time)
        case .never: exchange.words(SystemMessage.backupNever)
        case .unknown: exchange.words(SystemMessage.backupUnknown)
        }
    }

    private func lease(_ exchange: Console.Exchange) async throws -> String {
        let words = exchange.words
        guard let lease = try await console.store.maintenanceLease(at: exchange.now) else {
            return words(SystemMessage.noLease)
        }
        let holder: SystemMessage = lease.holder == console.leaseHolder ? .leaseHere : .leaseElsewhere
        return words(LocalizedText(holder, ["time": .text(words.end(lease.end, now: exchange.now))]))
    }
}

extension InstallationState.Certificate {
    /// The end of the validity, in words.
    func validityText(_ exchange: Console.Exchange) -> String {
        guard let validity else { return exchange.words(SystemMessage.noCertificate) }
        let message: SystemMessage = validity.end > exchange.now ? .validUntil : .expired
        return exchange.words(
            LocalizedText(message, ["time": .text(exchange.words.moment(validity.end))]))
    }
}

extension Console {
    /// Reads the state of the installation; nil if it cannot be read, or if the program of the server reports none.
    func installation(_ exchange: Exchange) async -> InstallationState? {
        guard let reporter else { return nil }
        do { return try await reporter.state(for: exchange.request.context) } catch {
            logger.warning("failed to read the state of the installation", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
