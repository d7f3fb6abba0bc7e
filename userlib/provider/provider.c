/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * anynic's libibverbs provider: registration, devices and contexts. Owns the table
 * of classes and the list of open contexts. Knows of a class only what its row in
 * classes.def and its struct anynic_class say.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* What libibverbs sees of a class: one set of device ops, with the way back to it. */
struct class_device {
	struct verbs_device_ops ops;
	const struct anynic_class *class;
};

static const struct anynic_class *const classes[] = {
#define NIC_CLASS(name, vendor) &an_##name##_user,
#include "providers/common/classes.def"
#undef NIC_CLASS
};
#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

static struct class_device class_devices[CLASS_COUNT];

static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct anynic_context *contexts;

/*
 * A child shares the pages of its parent's doorbells. Whatever it posted would
 * make the NIC look at the parent's queues, so each object is made to refuse.
 */
static void fork_prepare(void)
{
	pthread_mutex_lock(&contexts_mutex);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&contexts_mutex);
}

static void fork_child(void)
{
	struct anynic_context *context;

	for (context = contexts; context; context = context->next)
		context->class->context_forked(context);
	pthread_mutex_unlock(&contexts_mutex);
}

static void contexts_add(struct anynic_context *context)
{
	pthread_mutex_lock(&contexts_mutex);
	context->next = contexts;
	contexts = context;
	pthread_mutex_unlock(&contexts_mutex);
}

static void contexts_remove(struct anynic_context *context)
{
	struct anynic_context **link;

	pthread_mutex_lock(&contexts_mutex);
	for (link = &contexts; *link && *link != context; link = &(*link)->next)
		;
	if (*link)
		*link = context->next;
	pthread_mutex_unlock(&contexts_mutex);
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *device)
{
	free(device);
}

static const struct anynic_class *class_of(struct ibv_device *device)
{
	const struct verbs_device_ops *ops = verbs_get_device(device)->ops;

	return container_of(ops, struct class_device, ops)->class;
}

/* ANYNIC_DEBUG answers "which provider serves this device?". */
static void tell_opened(const struct ibv_device *device, const struct anynic_class *class)
{
	if (secure_getenv("ANYNIC_DEBUG"))
		fprintf(stderr, "anynic: %s: opened, class %s\n", device->name, class->name);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data)
{
	const struct anynic_class *class = class_of(device);
	const char *single = secure_getenv("ANYNIC_SINGLE_THREADED");
	struct anynic_context *context;
	int err;

	(void)private_data;
	/* The third argument is where the verbs context is within the whole: at 0. */
	context = _verbs_init_and_alloc_context(device, cmd_fd, class->context_bytes, NULL,
						class->driver_id);
	if (!context)
		return NULL;
	context->class = class;
	context->single_threaded = single && *single == '1';

	err = anynic_clamps_read(device->name, &context->clamps);
	if (err)
		goto undo_alloc;
	anynic_limits_meet(class->limits, &context->clamps, &context->limits);

	err = class->context_init(context, cmd_fd);
	if (err)
		goto undo_alloc;
	verbs_set_ops(&context->verbs, &anynic_base_ops);
	verbs_set_ops(&context->verbs, class->ops);
	verbs_set_ops(&context->verbs, &anynic_checked_ops);
	contexts_add(context);
	tell_opened(device, class);
	return &context->verbs;

undo_alloc:
	verbs_uninit_context(&context->verbs);
	free(context);
	errno = -err;
	return NULL;
}

void anynic_free_context(struct ibv_context *ibv_context)
{
	struct anynic_context *context = to_anynic_context(ibv_context);

	contexts_remove(context);
	context->class->context_fini(context);
	verbs_uninit_context(&context->verbs);
	free(context);
}

static __attribute__((constructor)) void register_classes(void)
{
	size_t i;

	for (i = 0; i < CLASS_COUNT; i++) {
		struct class_device *device = &class_devices[i];

		device->class = classes[i];
		device->ops = (struct verbs_device_ops){
			.name = classes[i]->name,
			.match_min_abi_version = classes[i]->abi_min,
			.match_max_abi_version = classes[i]->abi_max,
			.match_table = classes[i]->match,
			.alloc_context = alloc_context,
			.alloc_device = alloc_device,
			.uninit_device = uninit_device,
		};
		verbs_register_driver(&device->ops);
	}
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}
